-- SPDX-License-Identifier: Apache-2.0
--
-- Self-checking testbench of {{ top }}. It programs a run over AXI4-Lite, sends its input
-- streams, and compares every output word and every predictable counter with the files of a
-- folder. It repeats this for every further pass. The last line is PASS or FAIL.

use std.textio.all;
library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;
use work.bench_words.all;

entity bench is
    generic (
        VECTORS  : string := "vectors/small";  -- relative to the folder of the simulation
        PASSES   : natural := {{ passes }};               -- each in its own folder, 1, 2, ...;
                                               -- 0: VECTORS is the folder of one pass
        PAUSE    : natural := 0;               -- percentage of cycles with a pause of a stream
        SEED     : positive := 1;              -- seed of the pauses
        ABORT_AT : natural := 0;               -- cycles from the start to an abort and
                                               -- a restart of the run; 0: no abort
        WATCHDOG : positive := {{ watchdog }}          -- cycles without a transfer until a failure
    );
end entity bench;

architecture bench of bench is

    constant PERIOD : time := {{ period_ps }} ps;
    constant TAIL   : positive := {{ tail }};  -- cycles after the end without any output

    -- Registers of every register map, and their bits.
{% for name, value in control.items() %}
    constant {{ name.upper() }} : word_t := X"{{ "%08x" % value }}";
{% endfor %}

    signal aclk      : std_logic := '0';
    signal aresetn   : std_logic := '0';
    signal interrupt : std_logic;
    signal place     : natural := 0;      -- number of the pass
    signal enable    : std_logic := '0';  -- streams may move
    signal over      : boolean := false;  -- stops the clock, and so the simulation
    signal accesses  : natural := 0;      -- of registers

{% for port in axi_lite %}
    signal {{ port.name.ljust(13) }} : {{ port.type }}{{ "" if port.direction == "out" else " := " + port.zero }};
{% endfor %}

{% for stream in streams %}
    signal {{ stream.name }}_tdata  : std_logic_vector({{ stream.width - 1 }} downto 0);
    signal {{ stream.name }}_tvalid, {{ stream.name }}_tready, {{ stream.name }}_tlast : std_logic;
{% if stream.keep %}
    signal {{ stream.name }}_tkeep  : std_logic_vector({{ stream.keep - 1 }} downto 0);
{% endif %}
{% endfor %}

    constant SOURCES : positive := {{ inputs | length }};
    constant CHECKS  : positive := {{ outputs | length }};
    type counts_t is array (natural range <>) of natural;
    type flags_t is array (natural range <>) of boolean;
    type settings_t is array (0 to {{ address_range // 4 - 1 }}) of word_t;
    signal sent         : counts_t(1 to SOURCES) := (others => 0);
    signal source_ended : flags_t(1 to SOURCES) := (others => false);
    signal taken        : counts_t(1 to CHECKS) := (others => 0);
    signal compared     : counts_t(1 to CHECKS) := (others => 0);
    signal faults       : counts_t(1 to CHECKS) := (others => 0);
    signal check_ended  : flags_t(1 to CHECKS) := (others => false);

    function sum(counts : counts_t) return natural is
        variable total : natural := 0;
    begin
        for i in counts'range loop
            total := total + counts(i);
        end loop;
        return total;
    end function sum;

    function all_of(flags : flags_t) return boolean is
    begin
        for i in flags'range loop
            if not flags(i) then
                return false;
            end if;
        end loop;
        return true;
    end function all_of;

begin

    aclk <= not aclk after PERIOD / 2 when not over else '0';

    device : entity work.{{ top }}
        port map (
            aclk => aclk,
            aresetn => aresetn,
            interrupt => interrupt,
{% for port in axi_lite %}
            {{ port.name }} => {{ port.name }},
{% endfor %}
{% for stream in streams %}
            {{ stream.name }}_tdata => {{ stream.name }}_tdata,
{% if stream.keep %}
            {{ stream.name }}_tkeep => {{ stream.name }}_tkeep,
{% endif %}
            {{ stream.name }}_tvalid => {{ stream.name }}_tvalid,
            {{ stream.name }}_tready => {{ stream.name }}_tready,
            {{ stream.name }}_tlast => {{ stream.name }}_tlast{{ "" if loop.last else "," }}
{% endfor %}
        );

{% for stream in inputs %}
    play_{{ loop.index }} : entity work.stream_source
        generic map (
            VECTORS, "{{ stream.name }}.txt", {{ stream.element }}, {{ stream.lanes }}, {{ stream.keep // stream.lanes or 1 }},
            PAUSE, SEED + {{ loop.index }}
        )
        port map (
            aclk, place, enable, {{ "taken(%d) / %d * %d" | format(*answers[stream.name]) if stream.name in answers else "natural'high" }},
            {{ stream.name }}_tdata, {{ stream.name }}_tvalid, {{ stream.name }}_tready,
            {{ stream.name }}_tlast, {{ stream.name + "_tkeep" if stream.keep else "open" }},
            sent({{ loop.index }}), source_ended({{ loop.index }})
        );

{% endfor %}
{% for stream in outputs %}
    check_{{ loop.index }} : entity work.stream_check
        generic map (
            "{{ stream.name }}", VECTORS, "{{ stream.name }}.txt", {{ stream.element }}, {{ stream.lanes }},
            {{ stream.keep // stream.lanes or 1 }}, PAUSE, SEED + {{ inputs | length + loop.index }}
        )
        port map (
            aclk, place, enable, {{ stream.name }}_tdata, {{ stream.name }}_tvalid,
            {{ stream.name }}_tready, {{ stream.name }}_tlast, {{ stream.name + "_tkeep" if stream.keep else '"1"' }},
            taken({{ loop.index }}), compared({{ loop.index }}), faults({{ loop.index }}), check_ended({{ loop.index }})
        );

{% endfor %}
    run : process

        variable counters, wrong, all_sent, all_compared : natural := 0;
        variable not_taken, missing : boolean := false;
        variable held : settings_t;  -- what has been written: settings keep their values

        procedure write_register(address, value : in word_t) is
        begin
            s_axi_awaddr <= address(s_axi_awaddr'range);
            s_axi_awvalid <= '1';
            s_axi_wdata <= value(s_axi_wdata'range);
            s_axi_wstrb <= (others => '1');
            s_axi_wvalid <= '1';
            s_axi_bready <= '1';
            loop
                wait until rising_edge(aclk);
                if s_axi_awready = '1' then
                    s_axi_awvalid <= '0';
                end if;
                if s_axi_wready = '1' then
                    s_axi_wvalid <= '0';
                end if;
                exit when s_axi_bvalid = '1';
            end loop;
            accesses <= accesses + 1;
            if s_axi_bresp /= "00" then
                wrong := wrong + 1;
                say("write to " & hex(address) & ": response " & hex(s_axi_bresp));
            end if;
        end procedure write_register;

        procedure read_register(address : in word_t; value : out word_t) is
        begin
            s_axi_araddr <= address(s_axi_araddr'range);
            s_axi_arvalid <= '1';
            s_axi_rready <= '1';
            loop
                wait until rising_edge(aclk);
                if s_axi_arready = '1' then
                    s_axi_arvalid <= '0';
                end if;
                exit when s_axi_rvalid = '1';
            end loop;
            accesses <= accesses + 1;
            value := (others => '0');
            value(s_axi_rdata'range) := s_axi_rdata;
            if s_axi_rresp /= "00" then
                wrong := wrong + 1;
                say("read of " & hex(address) & ": response " & hex(s_axi_rresp));
            end if;
        end procedure read_register;

        procedure write_settings is
            file settings : text;
            variable rest : line;
            variable address, value : word_t;
            variable setting : natural;
        begin
            file_open(settings, folder(VECTORS, place) & "registers.txt", read_mode);
            while not endfile(settings) loop
                readline(settings, rest);
                read_word(rest, address);
                read_word(rest, value);
                setting := to_integer(unsigned(address)) / 4;
                if held(setting) /= value then
                    write_register(address, value);
                    held(setting) := value;
                end if;
            end loop;
            file_close(settings);
        end procedure write_settings;

        -- Software resets the engine, then the blocks around it are reset.
        procedure abort_run is
            variable found : word_t;
        begin
            for i in 1 to ABORT_AT loop
                wait until rising_edge(aclk);
            end loop;
            write_register(CONTROL, CONTROL_ABORT);
            loop
                read_register(STATUS, found);
                exit when (found and STATUS_ABORTING) /= STATUS_ABORTING;
            end loop;
            enable <= '0';
            for i in 1 to 2 loop
                wait until rising_edge(aclk);
            end loop;
        end procedure abort_run;

        procedure check_status is
            file expected : text;
            variable rest : line;
            variable address, value, found : word_t;
        begin
            file_open(expected, folder(VECTORS, place) & "status.txt", read_mode);
            while not endfile(expected) loop
                readline(expected, rest);
                read_word(rest, address);
                read_word(rest, value);
                read_register(address, found);
                counters := counters + 1;
                if found /= value then
                    wrong := wrong + 1;
                    say(rest.all & ": " & hex(found) & " instead of "
                        & hex(value));
                end if;
            end loop;
            file_close(expected);
        end procedure check_status;

        procedure show_cycles is
            file shown : text;
            variable rest : line;
            variable address, found : word_t;
        begin
            file_open(shown, folder(VECTORS, place) & "cycles.txt", read_mode);
            while not endfile(shown) loop
                readline(shown, rest);
                read_word(rest, address);
                read_register(address, found);
                say("cycles " & rest.all & ": " & decimal(found));
            end loop;
            file_close(shown);
        end procedure show_cycles;

        procedure pass is
        begin
            if place > 0 then
                say("pass " & natural'image(place));
            end if;
            write_settings;
            write_register(INTERRUPT_ENABLE, X"00000001");
            write_register(CONTROL, CONTROL_START);
            enable <= '1';
            if ABORT_AT > 0 then
                abort_run;
                write_register(CONTROL, CONTROL_START);
                enable <= '1';
            end if;
            wait until rising_edge(aclk) and interrupt = '1';
            for i in 1 to TAIL loop
                wait until rising_edge(aclk);
            end loop;
            check_status;
            show_cycles;
            write_register(PENDING, X"00000001");
            all_sent := all_sent + sum(sent);
            all_compared := all_compared + sum(compared);
            not_taken := not_taken or not all_of(source_ended);
            missing := missing or not all_of(check_ended);
        end procedure pass;

    begin
        for i in 1 to 4 loop
            wait until rising_edge(aclk);
        end loop;
        aresetn <= '1';
        for number in boolean'pos(PASSES > 0) to PASSES loop
            place <= number;
            enable <= '0';
            for i in 1 to 2 loop
                wait until rising_edge(aclk);
            end loop;
            pass;
        end loop;
        say("words played " & natural'image(all_sent) & ", compared " & natural'image(all_compared)
            & ", wrong " & natural'image(sum(faults)) & "; registers compared "
            & natural'image(counters) & ", wrong " & natural'image(wrong));
        over <= true;
        if not_taken then
            say("some input words were not accepted");
        end if;
        if missing then
            say("output words are missing");
        end if;
        if all_compared = 0 or sum(faults) + wrong > 0 or not_taken or missing then
            say("FAIL");
            report "FAIL" severity failure;
        end if;
        say("PASS");
        wait;
    end process run;

    watch : process
        variable quiet, moved, moved_before : natural := 0;
    begin
        while not over loop
            wait until rising_edge(aclk) or over;
            moved := accesses + sum(sent) + sum(taken);
            quiet := quiet + 1;
            if moved /= moved_before then
                moved_before := moved;
                quiet := 0;
            end if;
            if quiet = WATCHDOG then
                say("no word moved for " & natural'image(WATCHDOG) & " cycles; words taken in "
                    & natural'image(sum(sent)) & ", given out " & natural'image(sum(taken)));
                say("FAIL");
                report "FAIL" severity failure;
            end if;
        end loop;
        wait;
    end process watch;

end architecture bench;
