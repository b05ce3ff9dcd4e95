-- SPDX-License-Identifier: Apache-2.0
--
-- Sends the words in the file of each pass on an AXI4-Stream. tlast accompanies the last word. If a
-- beat has several words, tkeep marks the valid ones.

use std.textio.all;
library ieee;
use ieee.std_logic_1164.all;
use work.bench_words.all;

entity stream_source is
    generic (
        VECTORS   : string;
        FILE_NAME : string;         -- in the folder of a pass
        WIDTH     : positive;       -- bits of a word
        LANES     : positive;       -- words in a beat
        KEEP      : positive;       -- bits of tkeep for each
        PAUSE     : natural := 0;   -- per cent of the cycles in which no new word is presented
        SEED      : positive := 1   -- of the pauses
    );
    port (
        clk    : in  std_logic;
        place  : in  natural;       -- number of the pass, 0 where there are none
        enable : in  std_logic;     -- words may be presented; low: back to the first one
        known  : in  natural;       -- words that there are so far
        tdata  : out std_logic_vector(LANES * WIDTH - 1 downto 0) := (others => '0');
        tvalid : out std_logic := '0';
        tready : in  std_logic;
        tlast  : out std_logic := '0';
        tkeep  : out std_logic_vector(LANES * KEEP - 1 downto 0) := (others => '0');
        sent   : out natural := 0;  -- words that were taken
        ended  : out boolean := false
    );
end entity stream_source;

architecture bench of stream_source is
begin

    play : process
        file words : text;
        variable rest : line;
        variable value : word_t;
        variable dice : dice_t := (first => SEED, second => 4711);
        variable waits : boolean;
        variable count, offered : natural;
    begin
        sent <= 0;
        ended <= false;
        wait until rising_edge(clk) and enable = '1';
        count := 0;
        file_open(words, folder(VECTORS, place) & FILE_NAME, read_mode);
        ended <= endfile(words);
        while enable = '1' and not endfile(words) loop
            loop
                throw(dice, PAUSE, waits);
                exit when (not waits and count < known) or enable = '0';
                wait until rising_edge(clk);
            end loop;
            tdata <= (others => '0');
            tkeep <= (others => '0');
            offered := 0;
            while offered < LANES and not endfile(words) loop
                readline(words, rest);
                read_word(rest, value);
                tdata(offered * WIDTH + WIDTH - 1 downto offered * WIDTH) <= value(WIDTH - 1 downto 0);
                tkeep(offered * KEEP + KEEP - 1 downto offered * KEEP) <= (others => '1');
                offered := offered + 1;
            end loop;
            tvalid <= '1';
            tlast <= '0';
            if endfile(words) then
                tlast <= '1';
            end if;
            wait until rising_edge(clk) and (tready = '1' or enable = '0');
            tvalid <= '0';
            tlast <= '0';
            if tready = '1' then
                count := count + offered;
                sent <= count;
                ended <= endfile(words);
            end if;
        end loop;
        file_close(words);
        if enable = '1' then
            wait until enable = '0';
        end if;
    end process play;

end architecture bench;
