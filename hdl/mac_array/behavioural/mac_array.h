// The MAC array as one object of C++, for Verilator: the same bits in the same cycle as
// mac_array.py.

#pragma once

#include <array>
#include <memory>

#include "words.h"

template <class Of>
class Twin {
    using Design = typename Of::design;
    static constexpr int macs = Design::pixels, lanes = Design::pof;
    static constexpr int word_bits = Design::parameter_bits / lanes;

    using Sums = std::array<std::array<int64_t, lanes>, macs + 1>;  // bias gradients last

    struct Slot {
        bool valid, first, biased;
        std::array<int16_t, macs> pixels;
        std::array<int16_t, lanes> weights;
    };

    std::unique_ptr<Sums> sums = std::make_unique<Sums>(), kept = std::make_unique<Sums>();
    // Slots whose products are on their way, and whether the sums of a cycle are copied.
    std::array<Slot, Of::TO_SUM - 1> adding{};
    std::array<bool, Of::TO_SUM> copying{};
    uint64_t edge = 0;

    void add(const Slot& slot) {
        for (int mac = 0; mac < macs; mac++) {
            auto& own = (*sums)[mac];
            const int32_t pixel = slot.pixels[mac];
            for (int lane = 0; lane < lanes; lane++)
                own[lane] = (slot.first ? 0 : own[lane]) + pixel * slot.weights[lane];
        }
        if (slot.biased)
            for (int lane = 0; lane < lanes; lane++) {
                int64_t& sum = (*sums)[macs][lane];
                sum = (slot.first ? 0 : sum) + slot.weights[lane];
            }
    }

public:
    template <class Inputs, class Outputs>
    void clock(const Inputs& in, Outputs& out) {
        edge++;
        const auto& read = (*kept)[in.rank_place.value()];
        for (int lane = 0; lane < lanes; lane++)
            out.rank_sums.template put<Of::SUM_BITS>(lane, uint64_t(read[lane]));
        bool& copy = copying[edge % copying.size()];
        if (copy) *kept = *sums;
        out.rank_copied.set(copy && !in.rst);
        Slot& slot = adding[edge % adding.size()];
        if (slot.valid) add(slot);
        slot.valid = bool(in.operands_valid);
        if (slot.valid) {
            slot.first = bool(in.operands_first);
            slot.biased = bool(in.operands_biased);
            for (int mac = 0; mac < macs; mac++)
                slot.pixels[mac] =
                    int16_t(in.operands_pixels.template element<word_bits>(mac));
            for (int lane = 0; lane < lanes; lane++)
                slot.weights[lane] =
                    int16_t(in.operands_weights.template element<word_bits>(lane));
        }
        copy = slot.valid && in.operands_last;
        if (in.rst) copying.fill(false);
    }
};
