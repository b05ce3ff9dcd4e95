"""The benches that GHDL runs, in VHDL: they read inputs from files, and write outputs to files."""

from collections.abc import Sequence

from merp.hdl.conversion.convert import Port
from side_by_side.job import Job

TOOLS = """library ieee; use ieee.std_logic_1164.all; use std.textio.all;
package tools is
    procedure get (variable l : inout line; signal s : out std_logic);
    procedure get (variable l : inout line; signal s : out std_logic_vector);
    procedure put (variable l : inout line; v : in std_logic);
    procedure put (variable l : inout line; v : in std_logic_vector);
end package;
package body tools is
    procedure get (variable l : inout line; signal s : out std_logic) is
        variable c : character;
    begin
        read(l, c);
        if c = '1' then s <= '1'; else s <= '0'; end if;
    end procedure;
    procedure get (variable l : inout line; signal s : out std_logic_vector) is
        variable c : character;
        variable v : std_logic_vector(s'range);
    begin
        for i in v'range loop
            read(l, c);
            if c = '1' then v(i) := '1'; else v(i) := '0'; end if;
        end loop;
        s <= v;
    end procedure;
    procedure put (variable l : inout line; v : in std_logic) is
        constant image : string := std_logic'image(v);
    begin
        write(l, image(2));
    end procedure;
    procedure put (variable l : inout line; v : in std_logic_vector) is
    begin
        for i in v'range loop
            put(l, v(i));
        end loop;
    end procedure;
end package body;
"""


def bench_of_all(jobs: Sequence[Job]) -> str:
    """The bench that instantiates those of all designs."""
    made = "".join(f"    {job.name}: entity work.bench_{job.name};\n" for job in jobs)
    head = "entity bench is end entity;\narchitecture all_of_them of bench is begin\n"
    return f"{head}{made}end architecture;\n"


def bench_of(job: Job) -> str:
    """The bench of one design; its signals begin with ``p_``, so that no name is in the way."""

    def kind(port: Port) -> str:
        bits = f"_vector({port.width - 1} downto 0)" if port.width is not None else ""
        return f"std_logic{bits}"

    clocks = ["clk => p_clk"] if job.is_clocked else []
    ports = (*job.inputs, *job.outputs)
    wired = ", ".join((*clocks, *(f"{port.name} => p_{port.name}" for port in ports)))
    lines = [
        "library ieee; use ieee.std_logic_1164.all; use std.textio.all; use work.tools.all;",
        f"library lib_{job.name};",
        f"entity bench_{job.name} is end entity;",
        f"architecture bench of bench_{job.name} is",
        "    signal p_clk : std_logic := '0';",
        *(f"    signal p_{port.name} : {kind(port)};" for port in ports),
        "begin",
        f"    dut: entity lib_{job.name}.{job.export.top} port map ({wired});",
        "    process",
        f'        file given : text open read_mode is "{job.name}.in";',
        f'        file seen : text open write_mode is "{job.name}.out";',
        "        variable i, o : line;",
        "    begin",
        f"        for cycle in 1 to {len(job.trace.rows)} loop",
        "            readline(given, i);",
        *(f"            get(i, p_{port.name});" for port in job.inputs),
        "            wait for 5 ns;",
        *(f"            put(o, p_{port.name});" for port in job.outputs),
        "            writeline(seen, o);",
        "            p_clk <= '1';",
        "            wait for 5 ns;",
        "            p_clk <= '0';",
        "        end loop;",
        "        wait;",
        "    end process;",
        "end architecture;",
    ]
    return "".join(f"{line}\n" for line in lines)
