// The CU array as one object of C++, for Verilator: the same bits in the same cycle as cu_array.py.
//
// Each slot's work is done at the clock edges at which the hardware samples its inputs, so that a
// memory written meanwhile, or an accumulator revisited too early, gives the same bits too.

#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "integer_float.h"
#include "integer_fused.h"
#include "words.h"

template <class Of>
class Twin {
    using Design = typename Of::design;
    static constexpr int units = Design::n_cu, taps = Design::taps, width = Design::fmt::width;
    static constexpr bool fused = Design::cu_kind == "fused";
    using Format = typename Design::accumulator_format;
    using Arithmetic = Float<Format::exp_bits, Format::frac_bits>;
    using FusedArithmetic = Fused<Design::fused_dsp, Design::operand_precision,
                                  Design::fused_window, Format::frac_bits + 1>;
    static constexpr int more = Format::width - width;
    static constexpr int own = Design::origin_format::width;  // of a word that sums start at
    static constexpr int zeros = Format::width - own;         // that fill such a word up
    // From the edge that takes a slot to the one that reads its accumulator, and from there to the
    // one that shows the sum, after which it is written back.
    static constexpr int to_operand = Design::cu_latency, to_sum = Design::add_latency;
    static constexpr int to_element = Design::kernel_read_latency;

    using Sums = std::array<uint64_t, units>;

    struct Slot {
        unsigned kernel_addr, acc_addr, start;
        bool first, last;
    };

    struct Multiplied {
        Sums products;
        Slot slot;
    };

    struct Added {
        Sums total;
        unsigned acc_addr;
        bool last;
    };

    struct KernelWrite {
        unsigned addr;
        std::array<uint32_t, (units + 31) / 32> enable;
        std::array<uint32_t, (taps + 31) / 32> written, placed;
        std::array<uint32_t, taps> elements;
        std::array<uint32_t, Design::kernel_port> mine;
    };

    std::vector<uint32_t> kernels = std::vector<uint32_t>(Design::kernel_words * taps * units);
    std::vector<Sums> biases = std::vector<Sums>(Design::origins);
    std::vector<Sums> partial = std::vector<Sums>(Design::p * Design::groups);

    uint64_t edge = 0;
    bool taken = false, written = false, leaving = false, rounding = false;
    Slot slot_taken{};          // the slot whose window comes now
    KernelWrite kernel_write{}; // too late for that slot
    Due<Multiplied, to_operand> multiplied;
    Due<Added, to_sum + 1> added;
    Added sum_leaving{};  // behind the adder, to be written back
    Sums to_round{};      // finished sums behind the adder, to be rounded
    Due<uint32_t, to_element> found;  // elements that were read

    void multiply(const uint32_t* window, unsigned addr, Sums& sums) {
        const uint32_t* words = &kernels[size_t{addr} * taps * units];
        if constexpr (fused)
            FusedArithmetic::template sums_of_products<units>(window, words, taps, sums.data());
        else
            Arithmetic::template sums_of_products<taps, units>(window, words, sums.data());
    }

    template <class Inputs>
    void note_kernel(const Inputs& in) {
        written = true;
        kernel_write.addr = unsigned(in.kernel_addr.value());
        std::copy_n(in.kernel_enable.words, kernel_write.enable.size(), kernel_write.enable.begin());
        for (int tap = 0; tap < taps; tap++)
            kernel_write.elements[tap] = uint32_t(in.kernel_data.template element<width>(tap));
        kernel_write.written.fill(~uint32_t{0});
        kernel_write.placed.fill(0);
        if constexpr (requires { in.kernel_taps; })
            std::copy_n(in.kernel_taps.words, kernel_write.written.size(),
                        kernel_write.written.begin());
        if constexpr (requires { in.kernel_elements; }) {
            std::copy_n(in.kernel_places.words, kernel_write.placed.size(),
                        kernel_write.placed.begin());
            for (int lane = 0; lane < Design::kernel_port; lane++)
                kernel_write.mine[lane] =
                    uint32_t(in.kernel_elements.template element<width>(lane));
        }
    }

    void write_kernel() {
        written = false;
        const auto bit = [](const auto& words, int i) { return words[i / 32] >> i % 32 & 1; };
        uint32_t* word = &kernels[size_t{kernel_write.addr} * taps * units];
        for (int tap = 0; tap < taps; tap++) {
            if (!bit(kernel_write.written, tap)) continue;
            const bool placed = bit(kernel_write.placed, tap);
            for (int unit = 0; unit < units; unit++)
                if (bit(kernel_write.enable, unit))
                    word[tap * units + unit] = placed
                                                   ? kernel_write.mine[unit % Design::kernel_port]
                                                   : kernel_write.elements[tap];
        }
    }

    // An element as it is read back: fused CUs keep no subnormal, and one NaN.
    static uint32_t kept_element(uint32_t word) {
        if constexpr (!fused) return word;
        constexpr uint32_t sign = uint32_t{1} << (width - 1), frac = Design::fmt::frac_bits;
        const uint32_t magnitude = word & (sign - 1), infinite = sign - (uint32_t{1} << frac);
        if (magnitude < uint32_t{1} << frac) return word & sign;
        return magnitude > infinite ? infinite | uint32_t{1} << (frac - 1) : word;
    }

    void accumulate(const Multiplied& come) {
        const Slot& slot = come.slot;
        Added& sum = added.at(edge + to_sum);
        const Sums& operand = slot.first ? biases[slot.start] : partial[slot.acc_addr];
        for (int unit = 0; unit < units; unit++)
            sum.total[unit] = uint64_t(
                Arithmetic::add(int64_t(come.products[unit]), int64_t(operand[unit])));
        sum.acc_addr = slot.acc_addr;
        sum.last = slot.last;
    }

    template <class Inputs, class Outputs>
    void leave(const Inputs& in, Outputs& out) {
        bool raw = false;
        if constexpr (requires { in.raw; }) raw = bool(in.raw);
        constexpr int each = Design::sum_format::width;
        for (int unit = 0; unit < units; unit++) {
            const int64_t word = int64_t(to_round[unit]);
            out.sums_data.template put<each>(
                unit, uint64_t(raw ? word : Arithmetic::template narrow<more>(word)));
        }
    }

    template <class Inputs>
    static unsigned start_of(const Inputs& in) {
        if constexpr (requires { in.slot_origin; }) return unsigned(in.slot_origin.value());
        else return unsigned(in.slot_group.value());
    }

public:
    template <class Inputs, class Outputs>
    void clock(const Inputs& in, Outputs& out) {
        edge++;
        if (leaving) partial[sum_leaving.acc_addr] = sum_leaving.total;
        leaving = false;
        if (taken) {
            std::array<uint32_t, taps> window;
            for (int tap = 0; tap < taps; tap++)
                window[tap] = uint32_t(in.window.template element<width>(tap));
            Multiplied& come = multiplied.at(edge + to_operand - 1);
            come.slot = slot_taken;
            multiply(window.data(), slot_taken.kernel_addr, come.products);
        }
        if (const Multiplied* come = multiplied.take(edge)) accumulate(*come);
        bool finished = rounding;
        if (rounding) leave(in, out);
        rounding = false;
        if (const Added* sum = added.take(edge)) {
            sum_leaving = *sum;
            leaving = true;
            if (sum->last) {
                to_round = sum->total;
                rounding = more > 0;
                if (!rounding) {
                    finished = true;
                    leave(in, out);
                }
            }
        }
        out.sums_valid.set(finished);

        if (written) write_kernel();
        if (in.kernel_enable.any()) note_kernel(in);
        if (in.bias_enable.any()) {
            constexpr int places = decltype(in.bias_data)::size / own;
            Sums& word = biases[in.bias_addr.value()];
            for (int unit = 0; unit < units; unit++)
                if (in.bias_enable.bit(unit))
                    word[unit] = in.bias_data.template element<own>(unit % places) << zeros;
        }
        if constexpr (requires { in.read_enable; }) {
            if (in.read_enable) {
                const size_t word = in.read_addr.value() * taps + in.read_tap.value();
                found.at(edge + to_element - 1) =
                    kept_element(kernels[word * units + in.read_cu.value()]);
            }
            if (const uint32_t* element = found.take(edge)) out.read_element.set(*element);
        }
        taken = bool(in.slot_valid);
        if (taken) {
            slot_taken = {unsigned(in.slot_kernel_addr.value()), unsigned(in.slot_acc_addr.value()),
                          start_of(in), bool(in.slot_first), bool(in.slot_last)};
        }
        if (in.rst) {
            taken = leaving = rounding = false;
            multiplied.forget();
            added.forget();
            out.sums_valid.set(0);
        }
    }
};
