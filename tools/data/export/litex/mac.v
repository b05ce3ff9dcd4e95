// The MAC of the array for ECP5, in place of verilog/mac.v; bits and cycles are equal.
//
// Yosys maps the choice between zero and the sum to a LUT per bit, in front of the carry chain. The
// LUTs of the chain (CCU2C) have a free input, which makes this choice here.

`timescale 1ns/10ps

module mac (
    input  wire               clk,
    input  wire [15:0]        pixel,
    input  wire [15:0]        weight,
    input  wire               first,
    input  wire               add,
    output reg  signed [47:0] total
);

    reg  signed [15:0] a;
    reg  signed [15:0] b;
    reg  signed [31:0] product;
    wire [47:0] addend = {{16{product[31]}}, product};
    wire [47:0] sum;
    wire [24:0] carry;

    initial total = 48'h0;
    initial a = 16'h0;
    initial b = 16'h0;
    initial product = 32'h0;

    assign carry[0] = 1'b0;

    // A: addend, B: sum, C: start a new sum, D: 1. Propagate: A if C, else A ^ B. Generate: A.
    genvar pair;
    generate
        for (pair = 0; pair < 24; pair = pair + 1) begin : chain
            CCU2C #(
                .INIT0(16'b1010_0110_1010_1010), .INIT1(16'b1010_0110_1010_1010),
                .INJECT1_0("NO"), .INJECT1_1("NO")
            ) bits (
                .CIN(carry[pair]), .COUT(carry[pair + 1]),
                .A0(addend[2 * pair]), .B0(total[2 * pair]), .C0(first), .D0(1'b1),
                .A1(addend[2 * pair + 1]), .B1(total[2 * pair + 1]), .C1(first), .D1(1'b1),
                .S0(sum[2 * pair]), .S1(sum[2 * pair + 1])
            );
        end
    endgenerate

    always @(posedge clk) begin
        a <= pixel;
        b <= weight;
        product <= {{16{a[15]}}, a} * {{16{b[15]}}, b};
        if (add) begin
            total <= sum;
        end
    end

endmodule
