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

    string vectors = "vectors/small";
    integer pause = 0, seed = 1;  // per cent of the cycles in which no new word is presented
    integer words;
    reg [WIDTH - 1:0] word;  // the next one, if there is `more`
    reg more;

    function automatic void read_on();
        more = $fscanf(words, "%h", word) == 1;
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
        read_on();
        tdata = 0;
        tvalid = 0;
        tlast = 0;
        sent = 0;
        ended = 0;
    end

    always @(posedge clk)
        if (!enable) begin
            void'($rewind(words));
            read_on();
            tvalid <= 0;
            tlast <= 0;
            sent <= 0;
            ended <= 0;
        end else begin
            if (tvalid && tready) sent <= sent + 1;
            if (!tvalid || tready) begin
                ended <= !more;
                tvalid <= 0;
                tlast <= 0;
                if (more && !pauses()) begin
                    tdata <= word;
                    read_on();
                    tvalid <= 1;
                    tlast <= !more;
                end
            end
        end

endmodule
