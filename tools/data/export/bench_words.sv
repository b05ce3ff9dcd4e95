// SPDX-License-Identifier: Apache-2.0
//
// The words of a stream's file, one after the other, and when a stream pauses.

`timescale 1ns / 10ps

module bench_words #(
    parameter string  NAME  = "",   // of the stream, and of its file
    parameter integer WIDTH = 32,   // bits of a word
    parameter integer PLACE = 0     // among the streams: each has pauses of its own
);

    string vectors = "vectors/small";
    integer pause = 0, seed = 1;  // per cent of the cycles that are pauses
    integer words;
    reg [WIDTH - 1:0] word;  // the next one, if there is `more`
    reg more;

    function automatic void read_on();
        more = $fscanf(words, "%h", word) == 1;
    endfunction

    function automatic void rewind();
        void'($rewind(words));
        read_on();
    endfunction

    function automatic reg pauses();
        pauses = {$random(seed)} % 100 < pause;
    endfunction

    initial begin
        if ($value$plusargs("VECTORS=%s", vectors)) begin end
        if ($value$plusargs("PAUSE=%d", pause)) begin end
        if ($value$plusargs("SEED=%d", seed)) begin end
        seed = 1000 * seed + PLACE;
        words = $fopen({vectors, "/", NAME, ".txt"}, "r");
        if (words == 0) $fatal(1, "no file of %s", NAME);
    end

endmodule
