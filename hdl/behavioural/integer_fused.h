// The fused sum of products in integers, for the arrays' twins in C++.
//
// Written from the pages cu_fused and cu_narrow: a product is moved and rounded in one step, its
// cut digits are taken off the exact product, and the sum is rounded by an addition to its bits.
//
// Loops over the units have no branch, and become the processor's vector instructions. Infinities
// and NaNs are rare: units that have met one are summed again, one by one.

#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>

// dsp, operand, window, precision: of the design.
template <int dsp, int operand, int window, int precision>
struct Fused {
    static constexpr bool narrow = operand < 24;
    static constexpr uint64_t infinity = uint64_t{255} << (precision - 1);

    static uint32_t field(uint32_t word) { return word >> 23 & 255; }

    // A word of so many bits of significand, by an addition to its bits; a subnormal is zero.
    static uint32_t shortened(uint32_t word) {
        if constexpr (!narrow) return word;
        constexpr int lost = narrow ? 24 - operand : 1;
        const uint32_t up = (uint32_t{1} << (lost - 1)) - 1 + (word >> lost & 1);
        const uint32_t rounded = (word + up) >> lost << lost;
        return field(word) == 255 ? word : field(word) == 0 ? word & 0x80000000 : rounded;
    }

    // Signed significand; zero of a subnormal.
    static int32_t mantissa(uint32_t word) {
        const int32_t magnitude = field(word) ? int32_t(word & 0x7FFFFF) | 1 << 23 : 0;
        return word >> 31 ? -magnitude : magnitude;
    }

    // Product of mantissas in units of the aligned window. `last`: place of a unit's lowest bit,
    // 1 to 51. Half a unit is rounded up; of narrow factors away from zero.
    static int64_t term(int32_t a, int32_t b, int64_t last) {
        if constexpr (narrow) {
            const uint64_t product = uint64_t(uint32_t(std::abs(a))) * uint32_t(std::abs(b));
            const int64_t magnitude = int64_t(((product >> (last - 1)) + 1) >> 1);
            return (a ^ b) < 0 ? -magnitude : magnitude;
        }
        int64_t product = int64_t{a} * b;
        if constexpr (dsp == 1) {
            // A digit's product loses what lies below this place; a sum of multiples of it remains.
            constexpr uint32_t place = (uint32_t{1} << (46 - window)) - 1;
            const uint32_t low = uint32_t(b) & 127;
            const auto cut = [&](int shift) {
                return ((low >> shift & 3) * uint32_t(a) << shift) & place;
            };
            product -= cut(0) + cut(2) + cut(4) + cut(6);
        }
        // To shift signed words few processors have instructions for vectors: a negative one is
        // complemented, and then shifted with zeros, or moved above zero.
        constexpr int64_t above = int64_t{1} << 40;  // no term is as large
        const int64_t sign = -int64_t{product < 0};
        const int64_t halves = int64_t(uint64_t(product ^ sign) >> (last - 1)) ^ sign;
        return int64_t(uint64_t(halves + 1 + 2 * above) >> 1) - above;
    }

    // Float of a sum of units.
    static uint64_t word(int64_t total, int32_t largest) {
        const uint64_t sign = uint64_t(total < 0) << (precision + 7);
        int64_t magnitude = total < 0 ? -total : total;
        int64_t exponent = largest - window - 250 + 127 + 61;
        for (int step : {32, 16, 8, 4, 2, 1}) {
            const bool low = magnitude < int64_t{1} << (62 - step);
            magnitude = low ? magnitude << step : magnitude;
            exponent = low ? exponent - step : exponent;
        }
        constexpr int place = 62 - precision;  // the leading one is at place 61
        const int64_t odd = magnitude >> place & 1;
        const int64_t kept =
            int64_t(uint64_t(magnitude + (int64_t{1} << (place - 1)) - 1 + odd) >> place);
        constexpr int64_t least = int64_t{1} << (precision - 1);
        int64_t packed = (exponent - 1) * least + kept;
        packed = packed > int64_t(infinity) ? int64_t(infinity) : packed;
        packed = packed < least ? 0 : packed;
        return total == 0 ? 0 : sign | uint64_t(packed);
    }

    // Whether a sum has an infinity or a NaN for a factor, and then that sum.
    template <int units>
    [[gnu::noinline]] static bool special(
        const uint32_t* row, const uint32_t* kernels, int taps, uint64_t& sum
    ) {
        bool nan = false, above = false, below = false;
        for (int tap = 0; tap < taps; tap++) {
            const uint32_t a = shortened(row[tap]), b = shortened(kernels[tap * units]);
            if (field(a) < 255 && field(b) < 255) continue;
            const auto is_nan = [](uint32_t x) { return field(x) == 255 && (x & 0x7FFFFF); };
            nan |= is_nan(a) || is_nan(b) || !field(a) || !field(b);
            ((a ^ b) >> 31 ? below : above) = true;
        }
        if (nan || (above && below)) {
            sum = infinity | uint64_t{1} << (precision - 2);
        } else {
            sum = infinity | uint64_t{below} << (precision + 7);
        }
        return above || below;
    }

    // Each unit's fused sum. row: [taps]; kernels: [taps][units]; sums: [units].
    template <int units>
    static void sums_of_products(
        const uint32_t* row, const uint32_t* kernels, int taps, uint64_t* sums
    ) {
        int32_t largest[units] = {};
        uint32_t any_special = 0;
        for (int tap = 0; tap < taps; tap++) {
            const uint32_t a = shortened(row[tap]);
            const int32_t exponent = int32_t(field(a));
            any_special |= exponent == 255;
            for (int unit = 0; unit < units; unit++) {
                const int32_t other = int32_t(field(shortened(kernels[tap * units + unit])));
                any_special |= other == 255;
                const bool counts = narrow || (exponent && other);
                const int32_t sum = counts ? exponent + other : 0;
                largest[unit] = largest[unit] > sum ? largest[unit] : sum;
            }
        }
        int64_t totals[units] = {};
        for (int tap = 0; tap < taps; tap++) {
            const uint32_t a = shortened(row[tap]);
            const int32_t x = mantissa(a), exponent = int32_t(field(a));
            if (x == 0) continue;
            for (int unit = 0; unit < units; unit++) {
                const uint32_t b = shortened(kernels[tap * units + unit]);
                const int32_t other = int32_t(field(b));
                int32_t last = 50 - window + largest[unit] - exponent - other;
                last = other == 0 || last > 51 ? 51 : last;
                totals[unit] += term(x, mantissa(b), last);
            }
        }
        for (int unit = 0; unit < units; unit++) sums[unit] = word(totals[unit], largest[unit]);
        if (any_special)
            for (int unit = 0; unit < units; unit++) {
                uint64_t sum;
                if (special<units>(row, kernels + unit, taps, sum)) sums[unit] = sum;
            }
    }
};
