// What the harness and a design's tables share.
//
// The harness is compiled once for all designs. A design's tables stand behind the code of its
// model (verilator_build.py writes them there), so that its headers are read once.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "verilated.h"
#if VM_TRACE_FST
#include "verilated_fst_c.h"
using Trace = VerilatedFstC;
#elif VM_TRACE
#include "verilated_vcd_c.h"
using Trace = VerilatedVcdC;
#endif

struct Pin {
    const char* name;
    uint64_t (*get)();
    void (*set)(uint64_t);
};

// Elements of a beat, and what keep says of each, in so many bits; none where a beat is an element.
struct StreamPins {
    const char* name;
    std::vector<Pin> data;
    Pin valid, ready, last;
    std::vector<Pin> keep;
    unsigned keep_bits;
};

// Of the design.
extern const Pin clk, rst, start, done;
extern const std::vector<Pin> config, status, arriving, leaving;
extern const std::vector<StreamPins> inputs, outputs;
extern const int RESET_CYCLES;
extern const uint64_t TAIL_CYCLES, PROGRESS_CYCLES;
void make_top(VerilatedContext* context, const char* name);
void eval();
#if VM_TRACE
void show(Trace* trace, int levels);
#endif

inline uint64_t ones(unsigned bits) { return bits < 64 ? (uint64_t{1} << bits) - 1 : ~uint64_t{0}; }

// Bits of a port from `low` on, of one word or, if it has more than 64 bits, of several.
template <typename Port>
uint64_t get_bits(const Port& port, unsigned low, unsigned bits) {
    return uint64_t{port} >> low & ones(bits);
}

template <typename Port>
void set_bits(Port& port, unsigned low, unsigned bits, uint64_t value) {
    port = Port((uint64_t{port} & ~(ones(bits) << low)) | value << low);
}

// Word by word; of the rest of a port's word nothing changes.
template <std::size_t N>
uint64_t get_bits(const VlWide<N>& port, unsigned low, unsigned bits) {
    uint64_t value = 0;
    for (unsigned bit = 0, taken; bit < bits; bit += taken) {
        const unsigned place = (low + bit) % 32;
        taken = std::min(bits - bit, 32 - place);
        value |= (port[(low + bit) / 32] >> place & ones(taken)) << bit;
    }
    return value;
}

template <std::size_t N>
void set_bits(VlWide<N>& port, unsigned low, unsigned bits, uint64_t value) {
    for (unsigned bit = 0, taken; bit < bits; bit += taken) {
        const unsigned place = (low + bit) % 32;
        taken = std::min(bits - bit, 32 - place);
        auto& word = port[(low + bit) / 32];
        word = (word & ~(ones(taken) << place)) | (value >> bit & ones(taken)) << place;
    }
}
