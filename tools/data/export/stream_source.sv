// SPDX-License-Identifier: Apache-2.0
//
// Plays the words of a file on an AXI4-Stream; tlast goes with the last one.

`timescale 1ns / 10ps

module stream_source #(
    parameter string  NAME  = "",   // of the stream, and of its file
    parameter integer WIDTH = 32,   // bits of tdata
    parameter integer PLACE = 0     // among the streams: each has pauses of its own
) (
    input  wire              clk,
    input  wire              enable,  // words may be presented; low: back to the first one
    output reg [WIDTH - 1:0] tdata,
    output reg               tvalid,
    input  wire              tready,
    output reg               tlast,
    output integer           sent,    // words that were taken
    output reg               ended
);

    // While `enable` is low, the file is wound back.
    bench_words #(NAME, WIDTH, PLACE) words ();

    initial begin
        tdata = 0;
        tvalid = 0;
        tlast = 0;
        sent = 0;
        ended = 0;
    end

    always @(posedge clk)
        if (!enable) begin
            words.rewind();
            tvalid <= 0;
            tlast <= 0;
            sent <= 0;
            ended <= 0;
        end else begin
            if (tvalid && tready) sent <= sent + 1;
            if (!tvalid || tready) begin
                ended <= !words.more;
                tvalid <= 0;
                tlast <= 0;
                if (words.more && !words.pauses()) begin
                    tdata <= words.word;
                    words.read_on();
                    tvalid <= 1;
                    tlast <= !words.more;
                end
            end
        end

endmodule
