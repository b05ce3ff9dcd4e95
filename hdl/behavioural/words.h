// Ports of a twin: words of 32 bits, the lowest first, as SystemVerilog's DPI hands them over.

#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

// `width` bits from bit `low` on; up to 64.
template <int width>
inline uint64_t part(const uint32_t* words, unsigned low) {
    const uint32_t* at = words + low / 32;
    const unsigned place = low % 32;
    uint64_t value = *at >> place;
    if (place + width > 32) value |= uint64_t{at[1]} << (32 - place);
    if (width > 32 && place + width > 64) value |= uint64_t{at[2]} << (64 - place);
    return width == 64 ? value : value & ((uint64_t{1} << width % 64) - 1);
}

// A port that a twin reads.
template <int bits>
struct Input {
    static constexpr int size = bits;
    const uint32_t* words;

    explicit operator bool() const { return *words; }  // of a single bit
    uint64_t value() const { return part<bits>(words, 0); }  // up to 64 bits
    bool bit(unsigned index) const { return words[index / 32] >> index % 32 & 1; }

    template <int width>
    uint64_t element(unsigned index) const {
        return part<width>(words, index * width);
    }

    bool any() const {
        uint32_t found = 0;
        for (int i = 0; i < (bits + 31) / 32; i++) found |= words[i];
        return found;
    }
};

// A port that a twin drives: it keeps its value, zero at first.
template <int bits>
struct Output {
    std::array<uint32_t, (bits + 31) / 32> words{};

    void set(uint64_t value) { put<(bits < 64 ? bits : 64)>(0, value); }

    template <int width>
    void put(unsigned index, uint64_t value) {  // the bits above `width` are zero
        for (unsigned low = index * width, end = low + width; low < end;) {
            const unsigned place = low % 32, taken = 32 - place < end - low ? 32 - place : end - low;
            const uint32_t mask = (taken < 32 ? (uint32_t{1} << taken) - 1 : ~uint32_t{0}) << place;
            words[low / 32] = (words[low / 32] & ~mask) | (uint32_t(value << place) & mask);
            value >>= taken;
            low += taken;
        }
    }

    void give(uint32_t* to) const { std::memcpy(to, words.data(), sizeof words); }
};

// What is due at a coming edge of the clock, fewer than `depth` edges ahead; one item an edge.
template <class Item, int depth>
class Due {
    std::array<Item, depth> items;
    std::array<bool, depth> there{};

public:
    Item& at(uint64_t edge) {
        there[edge % depth] = true;
        return items[edge % depth];
    }

    Item* take(uint64_t edge) {  // a null pointer if nothing is due
        bool& found = there[edge % depth];
        if (!found) return nullptr;
        found = false;
        return &items[edge % depth];
    }

    void forget() { there.fill(false); }
};
