// Run a system until its firmware ends its output: a clock, and the serial output.
//
//     simulation CYCLES    most cycles
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "Vboard.h"
#include "verilated.h"

static const int END_OF_OUTPUT = 4;

int main(int count, char **values) {
    const uint64_t most = count == 2 ? std::strtoull(values[1], nullptr, 10) : 0;
    VerilatedContext context;
    Vboard board{&context};
    board.serial_source_ready = 1;
    for (uint64_t cycle = 0; cycle < most; cycle++) {
        board.sys_clk = 0;
        board.eval();
        const bool sent = board.serial_source_valid;
        const int byte = board.serial_source_data;
        board.sys_clk = 1;
        board.eval();
        if (!sent) continue;
        if (byte == END_OF_OUTPUT) {
            std::printf("cycles %llu\n", static_cast<unsigned long long>(cycle));
            return 0;
        }
        std::putchar(byte);
        if (byte == '\n') std::fflush(stdout);
    }
    std::fprintf(stderr, "no end after %llu cycles\n", static_cast<unsigned long long>(most));
    return 1;
}
