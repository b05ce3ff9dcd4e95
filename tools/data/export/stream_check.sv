// SPDX-License-Identifier: Apache-2.0
//
// Receives the words of an AXI4-Stream and compares them with the file of a pass. tlast must accompany
// the last word. If a beat has several words, tkeep must mark the valid ones.

`timescale 1ns / 10ps

module stream_check #(
    parameter string  NAME  = "",   // name of the stream and of its file
    parameter integer WIDTH = 32,   // bits of a word
    parameter integer LANES = 1,    // words in a beat
    parameter integer KEEP  = 1,    // bits of tkeep for each word
    parameter integer PLACE = 0     // number of the stream: seeds its pauses
) (
    input  wire               clk,
    input  integer            pass,    // number of the pass, 0 for a single pass
    input  wire               enable,  // the run has started; low: restart at the first word
    input  wire [LANES * WIDTH - 1:0] tdata,
    input  wire               tvalid,
    output reg                tready,
    input  wire               tlast,
    input  wire [LANES * KEEP - 1:0] tkeep,
    output integer            taken,   // received words
    output integer            compared,  // compared words
    output integer            faults,  // different or surplus words, or a wrong tlast
    output reg                ended    // every word of the file has been received
);

    // While `enable` is low, the file is read from its start.
    bench_words #(NAME, WIDTH, PLACE) words (pass);
    reg [WIDTH - 1:0] wanted;
    reg means;  // the word is compared
    reg [LANES * KEEP - 1:0] wanted_keep;
    integer kept, place;  // words of the beat, and the present word

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
