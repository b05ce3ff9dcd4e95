-- SPDX-License-Identifier: Apache-2.0
--
-- Words in text files: one in hexadecimal on each line. Text after a blank is ignored. A hyphen
-- marks a word that may have any value.

use std.textio.all;
library ieee;
use ieee.std_logic_1164.all;
use ieee.math_real.all;

package bench_words is

    constant LONGEST : positive := 32;  -- bits of a word
    subtype word_t is std_logic_vector(LONGEST - 1 downto 0);

    type dice_t is record
        first, second : positive;
    end record;

    -- The folder of a pass; for number 0 the folder itself.
    function folder(vectors : string; place : natural) return string;

    -- Reads the next word of a line after blanks. A hyphen gives don't-cares.
    procedure read_word(rest : inout line; value : out word_t);

    -- Hexadecimal digits of a value; X for an undefined digit.
    function hex(value : std_logic_vector) return string;

    -- A value below 2**31 in decimal digits.
    function decimal(value : word_t) return string;

    -- True in about `share` of 100 cases.
    procedure throw(dice : inout dice_t; share : in natural; yes : out boolean);

    -- Prints a line.
    procedure say(text : in string);

end package bench_words;

package body bench_words is

    constant DIGITS : string(1 to 16) := "0123456789abcdef";

    function folder(vectors : string; place : natural) return string is
    begin
        if place = 0 then
            return vectors & "/";
        end if;
        return vectors & "/" & natural'image(place) & "/";
    end function folder;

    procedure skip_blanks(rest : inout line) is
        variable character_read : character;
    begin
        while rest'length > 0 loop
            exit when rest(rest'low) /= ' ';
            read(rest, character_read);
        end loop;
    end procedure skip_blanks;

    procedure read_word(rest : inout line; value : out word_t) is
        variable found : word_t := (others => '0');
        variable digit : character;
        variable nibble : natural;
        variable bits : std_logic_vector(3 downto 0);
    begin
        skip_blanks(rest);
        while rest'length > 0 loop
            read(rest, digit);
            exit when digit = ' ';
            if digit = '-' then
                found := (others => '-');
                exit;
            end if;
            case digit is
                when '0' to '9' => nibble := character'pos(digit) - character'pos('0');
                when 'a' to 'f' => nibble := character'pos(digit) - character'pos('a') + 10;
                when others => report "not a hexadecimal digit: " & digit severity failure;
            end case;
            for i in bits'range loop
                if (nibble / 2 ** i) mod 2 = 1 then
                    bits(i) := '1';
                else
                    bits(i) := '0';
                end if;
            end loop;
            found := found(LONGEST - 5 downto 0) & bits;
        end loop;
        value := found;
    end procedure read_word;

    function hex(value : std_logic_vector) return string is
        constant COUNT : positive := (value'length + 3) / 4;
        variable bits : std_logic_vector(4 * COUNT - 1 downto 0) := (others => '0');
        variable shown : string(1 to COUNT);
        variable nibble : natural;
    begin
        bits(value'length - 1 downto 0) := value;
        for i in 1 to COUNT loop
            nibble := 0;
            for j in 0 to 3 loop
                if bits(4 * (COUNT - i) + j) = '1' then
                    nibble := nibble + 2 ** j;
                end if;
            end loop;
            shown(i) := DIGITS(nibble + 1);
            for j in 0 to 3 loop
                if bits(4 * (COUNT - i) + j) /= '0' and bits(4 * (COUNT - i) + j) /= '1' then
                    shown(i) := 'X';
                end if;
            end loop;
        end loop;
        return shown;
    end function hex;

    function decimal(value : word_t) return string is
        variable found : natural := 0;
    begin
        for i in 30 downto 0 loop
            found := 2 * found;
            if value(i) = '1' then
                found := found + 1;
            end if;
        end loop;
        return natural'image(found);
    end function decimal;

    procedure throw(dice : inout dice_t; share : in natural; yes : out boolean) is
        variable number : real;
    begin
        yes := false;
        if share > 0 then
            uniform(dice.first, dice.second, number);
            yes := number * 100.0 < real(share);
        end if;
    end procedure throw;

    procedure say(text : in string) is
        variable whole : line;
    begin
        write(whole, text);
        writeline(output, whole);
    end procedure say;

end package body bench_words;
