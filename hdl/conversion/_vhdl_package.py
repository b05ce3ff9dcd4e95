"""Hold the VHDL package that exported entities use. Private to ``merp.hdl.conversion``."""

PACKAGE = "hdl_support"
USE = f"use work.{PACKAGE}.all;\n"

PACKAGE_TEXT = """\
-- SPDX-License-Identifier: Apache-2.0
--
-- Functions that the standard packages lack.

library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

package hdl_support is

    -- A condition as a bit.
    function to_std_logic (condition : boolean) return std_logic;

    -- A bit as a number of so many bits.
    function to_unsigned (bit_value : std_logic; size : natural) return unsigned;

    -- How many bits the numbers from 0 to count - 1 have.
    function ceil_log2 (count : positive) return natural;

    -- True if generics have values that were converted. Any others end the elaboration: the
    -- conversion compares its text with the source for these alone.
    type integer_table is array (natural range <>, natural range <>) of integer;
    function are_converted (names : string; given : integer; known : integer_vector)
        return boolean;
    function are_converted (names : string; given : integer_vector; known : integer_table)
        return boolean;

    -- One of two values.
    function choose (condition : boolean; yes, no : std_logic) return std_logic;
    function choose (condition : boolean; yes, no : unsigned) return unsigned;
    function choose (condition : boolean; yes, no : signed) return signed;

end package hdl_support;

package body hdl_support is

    function to_std_logic (condition : boolean) return std_logic is
    begin
        if condition then
            return '1';
        end if;
        return '0';
    end function to_std_logic;

    function to_unsigned (bit_value : std_logic; size : natural) return unsigned is
        variable number : unsigned(size - 1 downto 0) := (others => '0');
    begin
        number(0) := bit_value;
        return number;
    end function to_unsigned;

    function ceil_log2 (count : positive) return natural is
        variable rest : natural := count - 1;
        variable found : natural := 0;
    begin
        while rest > 0 loop
            rest := rest / 2;
            found := found + 1;
        end loop;
        return found;
    end function ceil_log2;

    procedure append (text : inout string; last : inout natural; part : in string) is
    begin
        text(last + 1 to last + part'length) := part;
        last := last + part'length;
    end procedure append;

    -- The rows of a table as text; synthesis knows integer'image, but not every to_string.
    function listed (rows : integer_table) return string is
        variable text : string(1 to rows'length(1) * (14 * rows'length(2) + 4));
        variable last : natural := 0;
    begin
        for row in rows'range(1) loop
            for column in rows'range(2) loop
                if column > rows'low(2) then
                    append(text, last, ", ");
                elsif row > rows'low(1) then
                    append(text, last, " or ");
                end if;
                append(text, last, integer'image(rows(row, column)));
            end loop;
        end loop;
        return text(1 to last);
    end function listed;

    function are_converted (names : string; given : integer; known : integer_vector)
        return boolean is
        variable rows : integer_table(known'range, 0 to 0);
    begin
        for row in known'range loop
            rows(row, 0) := known(row);
        end loop;
        return are_converted(names, integer_vector'(0 => given), rows);
    end function are_converted;

    function are_converted (names : string; given : integer_vector; known : integer_table)
        return boolean is
        variable own : integer_table(0 to 0, known'range(2));
        variable equal : boolean;
    begin
        for row in known'range(1) loop
            equal := true;
            for column in known'range(2) loop
                equal := equal and known(row, column) = given(column);
                own(0, column) := given(column);
            end loop;
            if equal then
                return true;
            end if;
        end loop;
        report names & " = " & listed(own) & "; converted were " & listed(known)
            & ": for other values convert the block again"
            severity failure;
        return false;
    end function are_converted;

    function choose (condition : boolean; yes, no : std_logic) return std_logic is
    begin
        if condition then
            return yes;
        end if;
        return no;
    end function choose;

    function choose (condition : boolean; yes, no : unsigned) return unsigned is
    begin
        if condition then
            return yes;
        end if;
        return no;
    end function choose;

    function choose (condition : boolean; yes, no : signed) return signed is
    begin
        if condition then
            return yes;
        end if;
        return no;
    end function choose;

end package body hdl_support;
"""
