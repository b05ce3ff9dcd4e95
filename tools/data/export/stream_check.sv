// SPDX-License-Identifier: Apache-2.0
//
// Takes the words of an AXI4-Stream and compares each with those of a pass's file; tlast must come with the last,
// and tkeep, where a beat has several, must tell which of a beat are words.

`timescale 1ns / 10ps

module stream_check #(
    parameter string  NAME  = "",   // of the stream, and of its file
    parameter integer WIDTH = 32,   // bits of a word
    parameter integer LANES = 1,    // words in a beat
    parameter integer KEEP  = 1,    // bits of tkeep for each
    parameter integer PLACE = 0     // among the streams: each has pauses of its own
) (
    input  wire               clk,
    input  integer            pass,    // its number, 0 where there are none
    input  wire               enable,  // the run has begun; low: back to the first word
    input  wire [LANES * WIDTH - 1:0] tdata,
    input  wire               tvalid,
    output reg                tready,
    input  wire               tlast,
    input  wire [LANES * KEEP - 1:0] tkeep,
    output integer            taken,   // words that came
    output integer            compared,  // of those all that may not be any
    output integer            faults,  // words that differ, are too many, or have a wrong tlast
    output reg                ended    // every word of the file has come
);

    // While `enable` is low, the file is wound back.
    bench_words #(NAME, WIDTH, PLACE) words (pass);
    reg [WIDTH - 1:0] wanted;
    reg means;  // it must be this one
    reg [LANES * KEEP - 1:0] wanted_keep;
    integer kept, place;  // words of the beat, and the one at hand

    function automatic void fault(input string what);
        if (faults == 0) $display("first mismatch on %s, word %0d: %s", NAME, place, what);
        faults = faults + 1;
    endfunction

    initial begin
        tready = 0;
        taken = 0;
        compared = 0;
        faults = 0;
        ended = 0;
    end

    always @(posedge clk) begin
        tready <= enable && !words.pauses();
        if (!enable) begin
            words.rewind();
            taken <= 0;
            compared = 0;
            ended <= !words.more;
        end else if (tready && tvalid !== 0) begin
            place = taken;
            kept = 0;
            wanted_keep = 0;
            if (!words.more)
                fault($sformatf("a word too many, %h", tdata));
            else if (tvalid !== 1)
                fault("tvalid is undefined");
            while (kept < LANES && words.more) begin
                wanted = words.word;
                means = words.means;
                words.read_on();
                place = taken + kept;
                if (means) compared = compared + 1;
                if (tvalid === 1 && means && tdata[kept * WIDTH +: WIDTH] !== wanted)
                    fault($sformatf("%h instead of %h", tdata[kept * WIDTH +: WIDTH], wanted));
                else if (tvalid === 1 && (kept == LANES - 1 || !words.more) && tlast !== !words.more)
                    fault($sformatf("tlast must be '%b'", !words.more));
                wanted_keep[kept * KEEP +: KEEP] = {KEEP{1'b1}};
                kept = kept + 1;
            end
            if (LANES > 1 && kept > 0 && tkeep !== wanted_keep)
                fault($sformatf("tkeep %b instead of %b", tkeep, wanted_keep));
            taken <= taken + (kept > 0 ? kept : 1);
            ended <= !words.more;
        end
    end

endmodule
