// SPDX-License-Identifier: Apache-2.0
//
// Sends the words in the file of each pass on an AXI4-Stream. tlast accompanies the last word. If a
// beat has several words, tkeep marks the valid ones.

`timescale 1ns / 10ps

module stream_source #(
    parameter string  NAME  = "",   // name of the stream and of its file
    parameter integer WIDTH = 32,   // bits of a word
    parameter integer LANES = 1,    // words in a beat
    parameter integer KEEP  = 1,    // bits of tkeep for each word
    parameter integer PLACE = 0     // number of the stream: seeds its pauses
) (
    input  wire              clk,
    input  integer           pass,    // number of the pass, 0 for a single pass
    input  wire              enable,  // words may be sent; low: restart at the first word
    input  integer           known,   // words that are available so far
    output reg [LANES * WIDTH - 1:0] tdata,
    output reg               tvalid,
    input  wire              tready,
    output reg               tlast,
    output reg [LANES * KEEP - 1:0] tkeep,
    output integer           sent,    // transferred words
    output reg               ended
);

    // While `enable` is low, the file is read from its start.
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
