// SPDX-License-Identifier: Apache-2.0
//
// Takes the words of an AXI4-Stream and compares each with a file's; tlast must come with the last.

`timescale 1ns / 10ps

module stream_check #(
    parameter string  NAME  = "",   // of the stream, and of its file
    parameter integer WIDTH = 32,   // bits of tdata
    parameter integer PLACE = 0     // among the streams: each has pauses of its own
) (
    input  wire               clk,
    input  wire               enable,  // the run has begun; low: back to the first word
    input  wire [WIDTH - 1:0] tdata,
    input  wire               tvalid,
    output reg                tready,
    input  wire               tlast,
    output integer            taken,   // words that came
    output integer            faults,  // words that differ, are too many, or have a wrong tlast
    output reg                ended    // every word of the file has come
);

    string vectors = "vectors/small";
    integer pause = 0, seed = 1;  // per cent of the cycles in which it is not ready
    integer words;
    reg [WIDTH - 1:0] word;  // the next one, if there is `more`
    reg [WIDTH - 1:0] wanted;
    reg more;

    function automatic void read_on();
        more = $fscanf(words, "%h", word) == 1;
    endfunction

    function automatic reg pauses();
        pauses = {$random(seed)} % 100 < pause;
    endfunction

    function automatic void fault(input string what);
        if (faults == 0) $display("first mismatch on %s, word %0d: %s", NAME, taken, what);
        faults = faults + 1;
    endfunction

    initial begin
        if ($value$plusargs("VECTORS=%s", vectors)) begin end
        if ($value$plusargs("PAUSE=%d", pause)) begin end
        if ($value$plusargs("SEED=%d", seed)) begin end
        seed = 1000 * seed + PLACE;
        words = $fopen({vectors, "/", NAME, ".txt"}, "r");
        if (words == 0) $fatal(1, "no file of %s", NAME);
        read_on();
        tready = 0;
        taken = 0;
        faults = 0;
        ended = !more;
    end

    always @(posedge clk) begin
        tready <= enable && !pauses();
        if (!enable) begin
            void'($rewind(words));
            read_on();
            taken <= 0;
            ended <= !more;
        end else if (tready && tvalid !== 0) begin
            if (!more)
                fault($sformatf("a word too many, %h", tdata));
            else begin
                wanted = word;
                read_on();
                if (tvalid !== 1)
                    fault("tvalid is undefined");
                else if (tdata !== wanted)
                    fault($sformatf("%h instead of %h", tdata, wanted));
                else if (tlast !== !more)
                    fault($sformatf("tlast must be '%b'", !more));
            end
            taken <= taken + 1;
            ended <= !more;
        end
    end

endmodule
