// The array of the kernel update as one object of C++: the same bits as gradient_array.py.
//
// Each slot's work is done at the clock edges at which the hardware reads and writes, so that
// gradients visited too early, a read amid slots or a reset give the same bits too.

#pragma once

#include <array>
#include <vector>

#include "integer_float.h"
#include "words.h"

template <class Of>
class Twin {
    using Design = typename Of::design;
    static constexpr int units = Design::n_cu, taps = Design::taps, width = Design::fmt::width;
    using Arithmetic = Float<Design::fmt::exp_bits, Design::fmt::frac_bits>;
    // From the edge that takes a slot to the one that reads its gradients, and on to the write.
    static constexpr int to_operand = Design::mul_latency, to_write = Design::add_latency + 1;

    using Gradients = std::array<uint32_t, taps * units>;

    struct Multiplied {
        std::array<uint32_t, taps> window;
        std::array<uint32_t, units> deltas;
        unsigned addr;
        bool from_zero;
    };

    struct Added {
        Gradients total;
        unsigned addr;
    };

    using Read = std::array<uint32_t, Design::gradient_read>;

    std::vector<Gradients> memory = std::vector<Gradients>(Design::kernel_words);
    uint64_t edge = 0;
    bool taken = false, taken_from_zero = false;
    unsigned taken_addr = 0;  // of the slot whose window comes now
    Due<Multiplied, to_operand> multiplied;
    Due<Added, to_write + 1> added;
    Due<Read, Of::GRADIENT_READ> leaving;

    static void add_products(const Multiplied& come, const Gradients& operand, Gradients& total) {
        for (int tap = 0; tap < taps; tap++)
            for (int unit = 0; unit < units; unit++) {
                const int place = tap * units + unit;
                const int64_t product =
                    Arithmetic::multiply(come.window[tap], come.deltas[unit]);
                total[place] = uint32_t(Arithmetic::add(product, operand[place]));
            }
    }

    template <class Inputs>
    Read found(const Inputs& in) const {
        const bool several = Design::kernel_port > 1;
        const unsigned tap = unsigned(in.read_tap_shift.value());
        const unsigned unit = unsigned(in.read_cu_shift.value()) / (several ? 1 : width);
        const unsigned first = several ? tap * Design::gradient_read : tap / width;
        const Gradients& word = memory[in.read_addr.value()];
        Read elements{};
        for (unsigned i = 0; i < elements.size() && first + i < taps; i++)
            elements[i] = word[(first + i) * units + unit];
        return elements;
    }

public:
    template <class Inputs, class Outputs>
    void clock(const Inputs& in, Outputs& out) {
        edge++;
        if (taken) {
            Multiplied& come = multiplied.at(edge + to_operand - 1);
            for (int tap = 0; tap < taps; tap++)
                come.window[tap] = uint32_t(in.window.template element<width>(tap));
            for (int unit = 0; unit < units; unit++)
                come.deltas[unit] = uint32_t(in.deltas.template element<width>(unit));
            come.addr = taken_addr;
            come.from_zero = taken_from_zero;
        }
        if (const Multiplied* come = multiplied.take(edge)) {
            static constexpr Gradients zero{};
            const bool read = bool(in.read_enable);
            Added& sum = added.at(edge + to_write);
            sum.addr = come->addr;
            const unsigned source = read ? unsigned(in.read_addr.value()) : come->addr;
            add_products(*come, come->from_zero && !read ? zero : memory[source], sum.total);
        }
        if (const Read* elements = leaving.take(edge))
            for (unsigned i = 0; i < elements->size(); i++)
                out.gradient.template put<width>(i, (*elements)[i]);
        if (in.read_enable) leaving.at(edge + Of::GRADIENT_READ - 1) = found(in);
        if (const Added* sum = added.take(edge)) memory[sum->addr] = sum->total;
        taken = bool(in.slot_valid);
        taken_addr = unsigned(in.slot_kernel_addr.value());
        taken_from_zero = bool(in.opening);
        if (in.rst) {
            taken = false;
            multiplied.forget();
            added.forget();
        }
    }
};
