// Map rule for Yosys: a truncated product does not depend on the signs of its factors.
//
// Verilog of merp extends the signs of factors to the width of the product. As signed factors, they
// keep only their own bits, and a product of words takes one multiplier in place of three.
(* techmap_celltype = "$mul" *)
module signed_product (A, B, Y);
    parameter A_SIGNED = 0, B_SIGNED = 0, A_WIDTH = 1, B_WIDTH = 1, Y_WIDTH = 1;
    input [A_WIDTH-1:0] A;
    input [B_WIDTH-1:0] B;
    output [Y_WIDTH-1:0] Y;

    wire _TECHMAP_FAIL_ = A_SIGNED || B_SIGNED || Y_WIDTH > A_WIDTH || Y_WIDTH > B_WIDTH;

    \$mul #(
        .A_SIGNED(1), .B_SIGNED(1), .A_WIDTH(A_WIDTH), .B_WIDTH(B_WIDTH), .Y_WIDTH(Y_WIDTH)
    ) _TECHMAP_REPLACE_ (.A(A), .B(B), .Y(Y));
endmodule
