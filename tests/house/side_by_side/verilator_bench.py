"""The bench that Verilator compiles: all designs in a module, and a harness in C++ around it."""

from collections.abc import Callable, Sequence

from merp.hdl.conversion.convert import Port
from side_by_side.job import Job

_HARNESS = """// Drives all designs of a bench, and prints their outputs in every cycle.
#include <fstream>
#include <iostream>
#include "Vbench.h"

static std::ifstream given("all.in");
static std::ofstream seen("all.out");

template <class T> void get(T& port, int width) {
    std::string bits;
    given >> bits;
    T value = 0;
    for (char bit : bits) value = T(value << 1 | (bit == '1'));
    port = value;
}

template <std::size_t N> void get(VlWide<N>& port, int width) {
    std::string bits;
    given >> bits;
    for (std::size_t i = 0; i < N; ++i) port[i] = 0;
    for (int i = 0; i < width; ++i)
        if (bits[width - 1 - i] == '1') port[i / 32] |= 1u << i % 32;
}

template <class T> void put(const T& port, int width) {
    seen << ' ';
    for (int i = width - 1; i >= 0; --i) seen << char('0' + (port >> i & 1));
}

template <std::size_t N> void put(const VlWide<N>& port, int width) {
    seen << ' ';
    for (int i = width - 1; i >= 0; --i) seen << char('0' + (port[i / 32] >> i % 32 & 1));
}

void inputs(Vbench& bench, int cycle);
void outputs(Vbench& bench, int cycle);
extern const int cycles;

int main(int argc, char** argv) {
    VerilatedContext context;
    context.randReset(2);  // what has no initial value is random
    context.randSeed(1);
    Vbench bench{&context};
    bench.clk = 0;
    for (int cycle = 0; cycle < cycles; ++cycle) {
        inputs(bench, cycle);
        bench.eval();
        outputs(bench, cycle);
        seen << std::endl;
        bench.clk = 1;
        bench.eval();
        bench.clk = 0;
    }
    bench.final();
}

"""


def bench_of_all(jobs: Sequence[Job]) -> str:
    """The module in Verilog, which instantiates all designs."""
    declared, made = ["    input wire clk"], []
    for job in jobs:
        wired = [".clk(clk)"] if job.is_clocked else []
        for port in (*job.inputs, *job.outputs):
            way = "output" if port.is_output else "input"
            bits = f" [{port.width - 1}:0]" if port.width is not None else ""
            declared.append(f"    {way} wire{bits} {job.name}_p_{port.name}")
            wired.append(f".{port.name}({job.name}_p_{port.name})")
        made.append(f"    {job.export.top} dut_{job.name} ({', '.join(wired)});\n")
    ports = ",\n".join(declared)
    return f"`timescale 1ns/10ps\nmodule bench (\n{ports}\n);\n{''.join(made)}endmodule\n"


def harness(jobs: Sequence[Job], cycles: int) -> str:
    """The program in C++, which drives all designs in every cycle."""

    def function(name: str, call: str, ports: Callable[[Job], Sequence[Port]]) -> list[str]:
        lines = [f"void {name}(Vbench& bench, int cycle) {{"]
        for job in jobs:
            lines.append(f"    if (cycle < {len(job.trace.rows)}) {{")
            lines += [
                f"        {call}(bench.{job.name}_p_{port.name}, {port.width or 1});"
                for port in ports(job)
            ]
            lines.append("    }")
        return [*lines, "}"]

    lines = [
        f"const int cycles = {cycles};",
        *function("inputs", "get", lambda job: job.inputs),
        *function("outputs", "put", lambda job: job.outputs),
    ]
    return _HARNESS + "".join(f"{line}\n" for line in lines)
