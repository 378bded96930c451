// The dictionary of distinct values: they get codes in the order of their appearance, which the host sorts later.
//
// A small open table of pairs, the bits of a value (never 0) and its code plus one. Nearly all look-ups are hits in the
// first-level cache. Where there are too many values for the codes, a flag says so and the host asks for wider ones.
#pragma once

constexpr u32 VALUE_SLOTS = 1u << 18;
constexpr int LONGEST_VALUE_PROBE = 64;

struct Dictionary {
    u64* pairs;
    u32* count;
    u32 limit;
    u64* control;
};

DEVICE u32 value_slot(u64 bits) { return (u32)(bits * 0x9E3779B97F4A7C15ull >> 40); }

// Look a value up, and add it where it is new.
OUTLINE u32 add_value(Dictionary dictionary, u64 bits) {
    u32 at = value_slot(bits);
#pragma unroll 1
    for (int probe = 0; probe < LONGEST_VALUE_PROBE; ++probe, ++at) {
        const u32 slot = at & (VALUE_SLOTS - 1);
        u64* pair = dictionary.pairs + 2 * slot;
        u64 there = load_volatile(pair);
        if (there == 0) {
            if (load_volatile(dictionary.count) > dictionary.limit) break;
            there = swap_if(pair, 0, bits);
            if (there == 0) {
                const u32 code = fetch_add(dictionary.count, 1u);
                store_volatile(pair + 1, code + 1);
                if (code < dictionary.limit) return code;
                break;
            }
        }
        if (there != bits) continue;
        u64 code = 0;
        while (code == 0) code = load_volatile(pair + 1);
        if (code <= dictionary.limit) return (u32)code - 1;
        break;
    }
    fetch_or(dictionary.control + FLAGS, TOO_MANY_VALUES);
    return 0;
}

DEVICE u32 code_of(const Dictionary& dictionary, double value) {
    const u64 bits = bits_of(value);
    u64 there, code;
    // Old copies of what is there, in the processor's own cache, will do: they are right or empty.
    load_cached_pair(dictionary.pairs + 2 * (value_slot(bits) & (VALUE_SLOTS - 1)), there, code);
    if (there == bits && code != 0 && code <= dictionary.limit) return (u32)code - 1;
    return add_value(dictionary, bits);
}

// Matrix entries: the value is a code of one or two bytes, or the number itself.
struct Entries {
    i32* columns;
    void* values;
    u64 bytes;
    Dictionary dictionary;

    DEVICE_MEMBER void put_code(u64 at, i32 column, u32 code) const {
        columns[at] = column;
        if (bytes == 1) ((u8*)values)[at] = (u8)code;
        else ((u16*)values)[at] = (u16)code;
    }
    DEVICE_MEMBER void put(u64 at, i32 column, double value) const {
        if (bytes < 8) return put_code(at, column, code_of(dictionary, value));
        columns[at] = column;
        ((double*)values)[at] = value;
    }
};

// The values in the order of their codes.
KERNEL list_values(const u64* pairs, double* values) {
    for (u64 i = thread(); i < VALUE_SLOTS; i += threads())
        if (pairs[2 * i + 1]) values[pairs[2 * i + 1] - 1] = double_of(pairs[2 * i]);
}

// Replace every code by its rank among the sorted values; eight codes of a byte, or four of two, at a time.
KERNEL sort_codes(u64* codes, u64 words, u64 bytes, const u16* ranks) {
    const u64 width = 8 * bytes, ones = (1ull << width) - 1;
    for (u64 i = thread(); i < words; i += threads()) {
        const u64 old = codes[i];
        u64 result = 0;
        for (u64 shift = 0; shift < 64; shift += width) result |= (u64)ranks[old >> shift & ones] << shift;
        codes[i] = result;
    }
}
