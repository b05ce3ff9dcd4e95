-- SPDX-License-Identifier: Apache-2.0
--
-- Receives the words of an AXI4-Stream and compares them with the file of a pass. tlast must accompany
-- the last word. If a beat has several words, tkeep must mark the valid ones.

use std.textio.all;
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.std_match;
use work.bench_words.all;

entity stream_check is
    generic (
        NAME      : string;         -- of the stream, for messages
        VECTORS   : string;
        FILE_NAME : string;         -- in the folder of a pass
        WIDTH     : positive;       -- bits of a word
        LANES     : positive;       -- words in a beat
        KEEP      : positive;       -- bits of tkeep for each
        PAUSE     : natural := 0;   -- per cent of the cycles in which it is not ready
        SEED      : positive := 1   -- of the pauses
    );
    port (
        clk    : in  std_logic;
        place  : in  natural;       -- number of the pass, 0 where there are none
        enable : in  std_logic;     -- the run has begun; low: back to the first word
        tdata  : in  std_logic_vector(LANES * WIDTH - 1 downto 0);
        tvalid : in  std_logic;
        tready : out std_logic := '0';
        tlast  : in  std_logic;
        tkeep  : in  std_logic_vector(LANES * KEEP - 1 downto 0);
        taken  : out natural := 0;  -- words that came
        compared : out natural := 0;  -- of those all that may not be any
        faults : out natural := 0;  -- words that differ, are too many, or have a wrong tlast
        ended  : out boolean := false  -- every word of the file has come
    );
end entity stream_check;

architecture bench of stream_check is
begin

    compare : process
        file words : text;
        variable rest : line;
        variable wanted : word_t;
        variable wanted_last : std_logic;
        variable dice : dice_t := (first => SEED, second => 1147);
        variable waits : boolean;
        variable count, means, wrong, kept : natural := 0;
        variable found : std_logic_vector(WIDTH - 1 downto 0);
        variable wanted_keep : std_logic_vector(LANES * KEEP - 1 downto 0);

        procedure fault(what : in string) is
        begin
            wrong := wrong + 1;
            faults <= wrong;
            if wrong = 1 then
                say("first mismatch on " & NAME & ", word " & natural'image(count) & ": " & what);
            end if;
        end procedure fault;
    begin
        tready <= '0';
        wait until rising_edge(clk) and enable = '1';
        count := 0;
        means := 0;
        taken <= 0;
        compared <= 0;
        file_open(words, folder(VECTORS, place) & FILE_NAME, read_mode);
        ended <= endfile(words);
        while enable = '1' loop
            throw(dice, PAUSE, waits);
            tready <= '1';
            if waits then
                tready <= '0';
            end if;
            wait until rising_edge(clk);
            if not waits and tvalid /= '0' then
                if endfile(words) then
                    fault("a word too many, " & hex(tdata));
                    count := count + 1;
                elsif tvalid /= '1' then
                    fault("tvalid is undefined");
                end if;
                kept := 0;
                wanted_keep := (others => '0');
                while kept < LANES and not endfile(words) loop
                    readline(words, rest);
                    read_word(rest, wanted);
                    wanted_last := '0';
                    if endfile(words) then
                        wanted_last := '1';
                        ended <= true;
                    end if;
                    found := tdata(kept * WIDTH + WIDTH - 1 downto kept * WIDTH);
                    if tvalid = '1' and not std_match(found, wanted(WIDTH - 1 downto 0)) then
                        fault(hex(found) & " instead of " & hex(wanted(WIDTH - 1 downto 0)));
                    elsif tvalid = '1' and (kept = LANES - 1 or wanted_last = '1')
                        and tlast /= wanted_last then
                        fault("tlast must be " & std_logic'image(wanted_last));
                    end if;
                    wanted_keep(kept * KEEP + KEEP - 1 downto kept * KEEP) := (others => '1');
                    kept := kept + 1;
                    count := count + 1;
                    if wanted(0) /= '-' then
                        means := means + 1;
                    end if;
                end loop;
                if LANES > 1 and kept > 0 and tkeep /= wanted_keep then
                    fault("tkeep " & hex(tkeep) & " instead of " & hex(wanted_keep));
                end if;
                taken <= count;
                compared <= means;
            end if;
        end loop;
        file_close(words);
    end process compare;

end architecture bench;
