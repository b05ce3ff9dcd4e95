// SPDX-License-Identifier: Apache-2.0
//
// Plays the words of a file of each pass on an AXI4-Stream; tlast goes with the last one, and tkeep, where a beat
// has several, tells which of a beat are words.

`timescale 1ns / 10ps

module stream_source #(
    parameter string  NAME  = "",   // of the stream, and of its file
    parameter integer WIDTH = 32,   // bits of a word
    parameter integer LANES = 1,    // words in a beat
    parameter integer KEEP  = 1,    // bits of tkeep for each
    parameter integer PLACE = 0     // among the streams: each has pauses of its own
) (
    input  wire              clk,
    input  integer           pass,    // its number, 0 where there are none
    input  wire              enable,  // words may be presented; low: back to the first one
    input  integer           known,   // words that there are so far
    output reg [LANES * WIDTH - 1:0] tdata,
    output reg               tvalid,
    input  wire              tready,
    output reg               tlast,
    output reg [LANES * KEEP - 1:0] tkeep,
    output integer           sent,    // words that were taken
    output reg               ended
);

    // While `enable` is low, the file is wound back.
    bench_words #(NAME, WIDTH, PLACE) words (pass);
    integer offered;  // words of the beat

    initial begin
        tdata = 0;
        tvalid = 0;
        tlast = 0;
        tkeep = 0;
        offered = 0;
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
            if (tvalid && tready) sent <= sent + offered;
            if (!tvalid || tready) begin
                ended <= !words.more;
                tvalid <= 0;
                tlast <= 0;
                if (words.more && sent + (tvalid ? offered : 0) < known && !words.pauses()) begin
                    tdata <= 0;
                    tkeep <= 0;
                    offered = 0;
                    while (offered < LANES && words.more) begin
                        tdata[offered * WIDTH +: WIDTH] <= words.word;
                        tkeep[offered * KEEP +: KEEP] <= {KEEP{1'b1}};
                        offered = offered + 1;
                        words.read_on();
                    end
                    tvalid <= 1;
                    tlast <= !words.more;
                end
            end
        end

endmodule
