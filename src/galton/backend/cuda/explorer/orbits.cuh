// What the generated function `represent` calls: one state for all that symmetries of the program make of it, the same as
// the core takes (src/core/explore/orbits.hpp).
#pragma once

DEVICE void order(u64& a, u64& b) {
    const u64 low = a < b ? a : b;
    b = a < b ? b : a;
    a = low;
}

// Where the least of all rotations of a sequence begins.
DEVICE int least_rotation(const u64* keys, int n) {
    int a = 0, b = 1, same = 0;
    while (a < n && b < n && same < n) {
        const u64 x = keys[(a + same) % n], y = keys[(b + same) % n];
        if (x == y) {
            ++same;
            continue;
        }
        if (x > y)
            a += same + 1;
        else
            b += same + 1;
        if (a == b) ++b;
        same = 0;
    }
    return a < b ? a : b;
}
