// SPDX-License-Identifier: Apache-2.0
//
// The words of a stream's file of a pass, one after the other, and when a stream pauses. In place of
// a word that may be any stands a hyphen.

`timescale 1ns / 10ps

module bench_words #(
    parameter string  NAME  = "",   // of the stream, and of its file
    parameter integer WIDTH = 32,   // bits of a word
    parameter integer PLACE = 0     // among the streams: each has pauses of its own
) (
    input integer pass              // its number, 0 where there are none
);

    string vectors = "vectors/small", folder, text;
    integer pause = 0, seed = 1;  // per cent of the cycles that are pauses
    integer words, opened = -1;   // the file, and of which pass it is
    reg [WIDTH - 1:0] word;  // the next one, if there is `more`
    reg more, means;         // it must be this one

    function automatic void read_on();
        more = $fscanf(words, "%s", text) == 1;
        means = text != "-";
        if (means) void'($sscanf(text, "%h", word));
    endfunction

    function automatic void rewind();
        if (pass != opened) begin
            if (opened >= 0) $fclose(words);
            opened = pass;
            folder = pass == 0 ? vectors : $sformatf("%s/%0d", vectors, pass);
            words = $fopen({folder, "/", NAME, ".txt"}, "r");
            if (words == 0) $fatal(1, "no file of %s", NAME);
        end
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
    end

endmodule
