// Float arithmetic in integers, for the arrays' twins in C++.
//
// Written from the same specification as integer_float.py, the hardware and the golden models:
// decode, exact integer result, round to nearest even, encode. Subnormals flush to signed zeros,
// every NaN is the canonical one. IEEE 754-2019 clauses 4.3.1 and 5.4.1.
//
// Everything is computed and the right result selected, without a branch, so that loops over the
// units become the processor's vector instructions.

#pragma once

#include <cstdint>
#include <initializer_list>

template <int exp_bits, int frac_bits>
struct Float {
    static constexpr int64_t top = (int64_t{1} << exp_bits) - 1;
    static constexpr int64_t hidden = int64_t{1} << frac_bits;
    static constexpr int64_t sign_bit = int64_t{1} << (exp_bits + frac_bits);
    static constexpr int64_t infinity = top << frac_bits;
    static constexpr int64_t nan = infinity | hidden >> 1;

    // Magnitude of `exact`, whose leading one has this biased exponent, less `drop` bits. The
    // hidden bit adds one to the exponent field below it, and so does a carry out of rounding.
    static int64_t rounded(int64_t exact, int64_t exponent, int drop) {
        const int64_t odd = exact >> drop & 1;
        const int64_t kept = int64_t(uint64_t(exact + (int64_t{1} << (drop - 1)) - 1 + odd) >> drop);
        int64_t magnitude = (exponent - 1) * hidden + kept;
        magnitude = magnitude > infinity ? infinity : magnitude;
        return magnitude >= hidden ? magnitude : 0;
    }

    static int64_t multiply(int64_t a, int64_t b) {
        const int64_t exponent_a = a >> frac_bits & top, fraction_a = a & (hidden - 1);
        const int64_t exponent_b = b >> frac_bits & top, fraction_b = b & (hidden - 1);
        const int64_t exact =
            int64_t(uint64_t(uint32_t(hidden | fraction_a)) * uint32_t(hidden | fraction_b));
        const int64_t carry = exact >> (2 * frac_bits + 1);
        const int64_t exponent = exponent_a + exponent_b + carry - ((1 << (exp_bits - 1)) - 1);
        int64_t magnitude = rounded(carry ? exact : exact << 1, exponent, frac_bits + 1);
        const bool infinite = (exponent_a == top) | (exponent_b == top);
        const bool zero = (exponent_a == 0) | (exponent_b == 0);
        magnitude = infinite ? infinity : magnitude;
        magnitude = zero ? 0 : magnitude;
        const bool nan_a = (exponent_a == top) & (fraction_a != 0);
        const bool nan_b = (exponent_b == top) & (fraction_b != 0);
        const bool none = nan_a | nan_b | (infinite & zero);
        return none ? nan : ((a ^ b) & sign_bit) | magnitude;
    }

    static int64_t add(int64_t a, int64_t b) {
        const bool swap = (a & (sign_bit - 1)) < (b & (sign_bit - 1));
        const int64_t large = swap ? b : a, small = swap ? a : b;
        const int64_t exponent_l = large >> frac_bits & top, fraction_l = large & (hidden - 1);
        const int64_t exponent_s = small >> frac_bits & top, fraction_s = small & (hidden - 1);
        const bool opposite = ((a ^ b) & sign_bit) != 0;

        // Up to `room` places apart the sum is exact. Further apart, the smaller number counts as
        // if it were at `room`: still below a quarter of the larger one's last place.
        constexpr int room = frac_bits + 3, width = frac_bits + room + 2;
        static_assert(width < 64);
        int64_t distance = exponent_l - exponent_s;
        distance = distance > room ? room : distance;
        int64_t aligned = int64_t(uint64_t((hidden | fraction_s) << room) >> distance);
        aligned = exponent_s == 0 ? 0 : aligned;
        int64_t exact = ((hidden | fraction_l) << room) + (opposite ? -aligned : aligned);

        // The leading one moves to the place of a carry, a bit above that of the larger number.
        const bool cancelled = exact == 0;
        int64_t exponent = exponent_l + 1;
        for (int step : {32, 16, 8, 4, 2, 1}) {
            const bool low = exact < (int64_t{1} << (width > step ? width - step : 0));
            exact = low ? exact << step : exact;
            exponent = low ? exponent - step : exponent;
        }
        int64_t total = (large & sign_bit) | rounded(exact, exponent, room + 1);
        total = cancelled ? 0 : total;
        total = exponent_l == 0 ? a & b & sign_bit : total;
        total = exponent_l == top ? large : total;
        const bool none =
            (exponent_l == top) & ((fraction_l != 0) | ((exponent_s == top) & opposite));
        return none ? nan : total;
    }

    // A word with `lost` fraction bits less. Exponents keep their width, so that magnitudes can be
    // rounded as whole numbers.
    template <int lost>
    static int64_t narrow(int64_t word) {
        const int64_t magnitude = word & (sign_bit - 1);
        if constexpr (lost == 0) {
            return word;
        } else {
            const int64_t odd = magnitude >> lost & 1;
            const int64_t kept = (magnitude + (int64_t{1} << (lost - 1)) - 1 + odd) >> lost;
            return magnitude > infinity ? nan >> lost : kept | (word - magnitude) >> lost;
        }
    }

    // Each unit's balanced tree of products. window: [taps]; kernels: [taps][units]; sums: [units].
    // Neighbours are added level by level, an odd last term passes on.
    template <int taps, int units>
    static void sums_of_products(const uint32_t* window, const uint32_t* kernels, uint64_t* sums) {
        int64_t terms[taps][units];
        for (int tap = 0; tap < taps; tap++)
            for (int unit = 0; unit < units; unit++)
                terms[tap][unit] = multiply(window[tap], kernels[tap * units + unit]);
        for (int count = taps; count > 1; count = (count + 1) / 2) {
            for (int j = 0; j < count / 2; j++)
                for (int unit = 0; unit < units; unit++)
                    terms[j][unit] = add(terms[2 * j][unit], terms[2 * j + 1][unit]);
            if (count % 2)
                for (int unit = 0; unit < units; unit++)
                    terms[count / 2][unit] = terms[count - 1][unit];
        }
        for (int unit = 0; unit < units; unit++) sums[unit] = uint64_t(terms[0][unit]);
    }
};
