// SPDX-License-Identifier: Apache-2.0
//
// The words in the file of a stream and a pass, one after the other, and the pauses of the stream.
// A hyphen marks a word that may have any value.

`timescale 1ns / 10ps

module bench_words #(
    parameter string  NAME  = "",   // name of the stream and of its file
    parameter integer WIDTH = 32,   // bits of a word
    parameter integer PLACE = 0     // number of the stream: seeds its pauses
) (
    input integer pass              // number of the pass, 0 for a single pass
);

    string vectors = "vectors/small", folder, text;
    integer pause = 0, seed = 1;  // percentage of cycles with a pause
    integer words, opened = -1;   // the file, and the pass of the file
    reg [WIDTH - 1:0] word;  // the next word, if `more` is set
    reg more, means;         // the word is compared

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
