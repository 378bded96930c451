// When a row is finished: probabilities that do not sum to 1 are divided by their sum, rates must have one.
//
// The rule and its reasons are in src/core/matrix/rows.hpp; both give the same numbers, bit for bit.
#pragma once

struct RowSum {
    double high, low;
    DEVICE_MEMBER double distance() const { return (high - 1) + low; }
    DEVICE_MEMBER double share(double value) const {
        const double quotient = value / high;
        return quotient + (fma(-quotient, high, value) - quotient * low) / high;
    }
};

// The first state whose row is off by more than rounding: the smaller its number, the larger what is kept. Together with
// its number goes the distance from 1, in single precision.
OUTLINE void report_off(u64* control, u64 state, double distance) {
    const u64 word = ~(state << 32 | bits_of_float((float)distance));
    u64 there = load_volatile(control + OFF_ROW);
    while (there < word) {
        const u64 before = swap_if(control + OFF_ROW, there, word);
        if (before == there) return;
        there = before;
    }
}

// Divide the values of a row by their sum, where that is not 1.
DEVICE void finish_row(double* values, u64 size, u64 state, u64* control, bool& fault) {
    double sum = 0;
    for (u64 i = 0; i < size; ++i) sum += values[i];
    if (CTMC) {
        if (!is_finite(sum)) fault = true;
        return;
    }
    if (fabs(sum - 1) <= 4 * 0x1p-53) return;
    RowSum total{0, 0};
    for (u64 i = 0; i < size; ++i) {
        const double x = values[i], next = total.high + x, part = next - total.high;
        total.low += (total.high - (next - part)) + (x - part);
        total.high = next;
    }
    const double distance = total.distance();
    if (fabs(distance) <= (double)(size + 4) * 0x1p-53) return;
    for (u64 i = 0; i < size; ++i) values[i] = total.share(values[i]);
    if (fabs(distance) > 1e-12) report_off(control, state, distance);
}
