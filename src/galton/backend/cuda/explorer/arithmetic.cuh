// The language's functions, and its arithmetic where it is not C++'s: the same results, bit for bit, as those of
// src/core/explore/operations.hpp. The names are those of galton.lang.operations.Op, and "_of".
//
// A function that may have no value has a second form, which takes `fault`, sets it then, and gives something harmless.
#pragma once

DEVICE double infinity() { return double_of(0x7FF0000000000000ull); }
DEVICE bool is_finite(double x) { return fabs(x) < infinity(); }

// An integer of the language must not lose digits, and has no -0.
DEVICE double exact(double value, bool& fault) {
    if (!(fabs(value) < 0x1p53)) {
        fault = true;
        return 0;
    }
    return value + 0.0;
}

// As in Java, and unlike in C++: what is not a number stays so, and -0.0 is less than 0.0.
DEVICE bool is_negative(double x) { return (i64)bits_of(x) < 0; }
template <class T>
DEVICE T min_of(T x, T y) {
    if (x == y) return is_negative((double)x) ? x : y;
    return x < y || x != x ? x : y;
}
template <class T>
DEVICE T max_of(T x, T y) {
    if (x == y) return is_negative((double)x) ? y : x;
    return x > y || x != x ? x : y;
}

DEVICE i32 mod_of(i32 x, i32 y) {
    const i32 r = x % y;
    return r < 0 ? r + y : r;
}
DEVICE double mod_of(double a, double b) {
    const double r = fmod(a, b);
    return (r < 0 ? r + b : r) + 0.0;  // never -0
}
DEVICE double mod_of(double a, double b, bool& fault) {
    if (b > 0) return mod_of(a, b);
    fault = true;
    return 0;
}

// An integer power of an integer. Every product on the way is at most the result, so none is rounded if that is not.
DEVICE double pow_of(double base, double exponent) {
    if (!(exponent < 1100)) exponent = 1100 + fmod(exponent, 2.0);  // only 0, 1 and -1 stay finite
    double result = 1;
    for (i32 left = (i32)exponent;;) {
        if (left & 1) result *= base;
        left >>= 1;
        if (left == 0) return result;
        base *= base;
    }
}
DEVICE double pow_of(double base, double exponent, bool& fault) {
    if (exponent >= 0) return pow_of(base, exponent);
    fault = true;
    return 0;
}

DEVICE double floor_of(double x) { return floor(x); }
DEVICE double ceil_of(double x) { return ceil(x); }
// Halves up; x + 0.5 would round the largest number below one half up as well.
DEVICE double round_of(double x) {
    const double below = floor(x);
    return below + (x - below >= 0.5 ? 1.0 : 0.0);
}
// Rounded in doubles, an integer has no -0.
DEVICE double finite(double value, bool& fault) {
    if (is_finite(value)) return value;
    fault = true;
    return 0;
}
DEVICE double floor_of(double x, bool& fault) { return floor_of(finite(x, fault)) + 0.0; }
DEVICE double ceil_of(double x, bool& fault) { return ceil_of(finite(x, fault)) + 0.0; }
DEVICE double round_of(double x, bool& fault) { return round_of(finite(x, fault)) + 0.0; }
