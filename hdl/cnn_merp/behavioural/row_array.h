// The array of the kernel update in rows as one object of C++: the same bits as row_array.py.
//
// A sweep's sums are computed when its last window is there; gradients are read and written at the
// clock edges at which the hardware does, so that those visited too early, a read amid sweeps or a
// reset give the same bits too.

#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

#include "integer_float.h"
#include "integer_fused.h"
#include "words.h"

template <class Of>
class Twin {
    using Design = typename Of::design;
    static constexpr int units = Design::n_cu, taps = Design::taps, width = Design::fmt::width;
    static constexpr int lanes = Design::ku_lanes, steps = (taps + lanes - 1) / lanes;
    using Format = typename Design::accumulator_format;
    using Arithmetic = Float<Format::exp_bits, Format::frac_bits>;
    using FusedArithmetic = Fused<Design::fused_dsp, Design::operand_precision,
                                  Design::fused_window, Format::frac_bits + 1>;
    static constexpr int more = Format::width - width;
    // From the edge that takes a slot of a sweep to the one that reads its first gradients, without
    // the columns that its mantissa pass takes, and from there on to the write.
    static constexpr int to_operand =
        Of::LAUNCH + Of::SUMMED + Of::DIFFERENCE + Of::NORMALISE - 2;
    static constexpr int to_write = Design::add_latency + 2;
    static constexpr int columns_most = std::bit_ceil(unsigned(std::max(2, Design::max_size)));
    static constexpr bool several = Design::kernel_port > 1;
    static constexpr int to_element =
        Of::GRADIENT_READ + (several ? Design::round_latency : 0);
    static constexpr unsigned banks = Design::gradient_banks, kernels = Design::kernel_words;

    using Gradients = std::array<uint64_t, lanes * units>;
    using Read = std::array<uint64_t, Design::gradient_read>;

    struct Summed {
        Gradients words;
        unsigned addr;
        bool from_zero;
    };

    struct Added {
        Gradients total;
        unsigned addr;
    };

    // A word behind the other, whatever the banks.
    std::vector<Gradients> memory = std::vector<Gradients>(Design::gradient_words * banks);
    std::array<std::array<uint32_t, columns_most>, taps> row{};
    std::array<std::array<uint32_t, units>, columns_most> row_deltas{};
    uint64_t edge = 0;
    bool taken = false, taken_last = false, taken_from_zero = false;
    unsigned taken_column = 0, taken_addr = 0;  // of the slot whose window comes now
    Due<Summed, columns_most + to_operand + steps> summed;
    Due<Added, to_write + 1> added;
    Due<Read, to_element> leaving;

    // The word that a bank has at an address.
    static unsigned place(unsigned addr, unsigned bank) {
        return addr % kernels + (addr / kernels * banks + bank) * kernels;
    }

    // Sum the row that is complete, and say when which of its words is added.
    void sweep(unsigned columns) {
        std::array<uint64_t, steps * lanes * units> sums{};
        for (int tap = 0; tap < taps; tap++)
            FusedArithmetic::template sums_of_products<units>(
                row[tap].data(), row_deltas[0].data(), int(columns), &sums[tap * units]);
        const uint64_t first = edge - 1 + columns + to_operand;
        for (int step = 0; step < steps; step++) {
            Summed& come = summed.at(first + step);
            std::copy_n(&sums[step * lanes * units], lanes * units, come.words.begin());
            come.addr = taken_addr + step * kernels;
            come.from_zero = taken_from_zero;
        }
    }

    template <class Inputs>
    void take(const Inputs& in) {
        for (int tap = 0; tap < taps; tap++)
            row[tap][taken_column] = uint32_t(in.window.template element<width>(tap));
        for (int unit = 0; unit < units; unit++)
            row_deltas[taken_column][unit] = uint32_t(in.deltas.template element<width>(unit));
        if (taken_last) sweep(taken_column + 1);
    }

    template <class Inputs>
    void accumulate(const Summed& come, const Inputs& in) {
        static constexpr Gradients zero{};
        const unsigned bank = come.addr / kernels % banks;
        const unsigned source =
            in.read_enable ? place(unsigned(in.read_addr.value()), bank) : come.addr;
        const Gradients& operand = come.from_zero ? zero : memory[source];
        Added& sum = added.at(edge + to_write);
        for (int i = 0; i < lanes * units; i++)
            sum.total[i] =
                uint64_t(Arithmetic::add(int64_t(come.words[i]), int64_t(operand[i])));
        sum.addr = come.addr;
    }

    template <class Inputs>
    Read found(const Inputs& in) const {
        const unsigned addr = unsigned(in.read_addr.value());
        const unsigned shift = unsigned(in.read_cu_shift.value());
        Read elements;
        for (unsigned i = 0; i < elements.size(); i++) {
            const unsigned lane =
                several ? i % lanes : unsigned(in.read_tap_shift.value()) / width;
            const unsigned unit = several ? shift : shift / width;
            const Gradients& word = memory[several ? place(addr, i / lanes) : addr];
            const int64_t gradient = int64_t(word[lane * units + unit]);
            elements[i] = uint64_t(Arithmetic::template narrow<more>(gradient));
        }
        return elements;
    }

public:
    template <class Inputs, class Outputs>
    void clock(const Inputs& in, Outputs& out) {
        edge++;
        if (taken) take(in);
        if (const Summed* come = summed.take(edge)) accumulate(*come, in);
        if (const Read* elements = leaving.take(edge))
            for (unsigned i = 0; i < elements->size(); i++)
                out.gradient.template put<width>(i, (*elements)[i]);
        if (in.read_enable) leaving.at(edge + to_element - 1) = found(in);
        if (const Added* sum = added.take(edge)) memory[sum->addr] = sum->total;
        taken = bool(in.slot_valid);
        taken_column = unsigned(in.slot_column.value());
        taken_last = bool(in.slot_last);
        taken_addr = unsigned(in.slot_kernel_addr.value());
        taken_from_zero = bool(in.opening);
        if (in.rst) {
            taken = false;
            summed.forget();
            added.forget();
        }
    }
};
