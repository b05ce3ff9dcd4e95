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

    // While `enable` is low, the file is wound back.
    bench_words #(NAME, WIDTH, PLACE) words ();
    reg [WIDTH - 1:0] wanted;

    function automatic void fault(input string what);
        if (faults == 0) $display("first mismatch on %s, word %0d: %s", NAME, taken, what);
        faults = faults + 1;
    endfunction

    initial begin
        tready = 0;
        taken = 0;
        faults = 0;
        ended = 0;
    end

    always @(posedge clk) begin
        tready <= enable && !words.pauses();
        if (!enable) begin
            words.rewind();
            taken <= 0;
            ended <= !words.more;
        end else if (tready && tvalid !== 0) begin
            if (!words.more)
                fault($sformatf("a word too many, %h", tdata));
            else begin
                wanted = words.word;
                words.read_on();
                if (tvalid !== 1)
                    fault("tvalid is undefined");
                else if (tdata !== wanted)
                    fault($sformatf("%h instead of %h", tdata, wanted));
                else if (tlast !== !words.more)
                    fault($sformatf("tlast must be '%b'", !words.more));
            end
            taken <= taken + 1;
            ended <= !words.more;
        end
    end

endmodule
