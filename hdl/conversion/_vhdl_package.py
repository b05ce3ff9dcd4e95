"""The VHDL package that exported entities use. Private to ``merp.hdl.conversion``."""

PACKAGE = "hdl_support"

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
