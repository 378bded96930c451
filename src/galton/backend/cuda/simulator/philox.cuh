// Random numbers that are a function of a counter: Philox 4x32-10, the same bits as src/core/simulate/philox.hpp.
#pragma once

struct Random4 {
    u32 word[4];
};

DEVICE Random4 philox(Random4 counter, u32 key0, u32 key1) {
#pragma unroll
    for (int round = 0; round < 10; ++round) {
        const u64 a = (u64)0xD2511F53u * counter.word[0], b = (u64)0xCD9E8D57u * counter.word[2];
        counter = {{(u32)(b >> 32) ^ counter.word[1] ^ key0, (u32)b, (u32)(a >> 32) ^ counter.word[3] ^ key1, (u32)a}};
        key0 += 0x9E3779B9u;
        key1 += 0xBB67AE85u;
    }
    return counter;
}

// A double in [0, 1), a multiple of 2^-53.
DEVICE double uniform(u32 low, u32 high) { return (double)(((u64)high << 32 | low) >> 11) * 0x1p-53; }

// The numbers of a draw within a step of a path. Steps have 48 bits, draws 16.
DEVICE Random4 draw(u64 seed, u64 path, u64 step, u32 number) {
    const Random4 counter = {{(u32)path, (u32)(path >> 32), (u32)step, ((u32)(step >> 32) & 0xFFFF) | number << 16}};
    return philox(counter, (u32)seed, (u32)(seed >> 32));
}

constexpr u64 BEFORE_THE_FIRST_STEP = (1ull << 48) - 1;
