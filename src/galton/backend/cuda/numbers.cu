// Numbers as one-byte codes into the distinct ones, where there are no more than 256.
//
// Execution plan: a thread per number. The first kernel collects the distinct ones in a table, the second finds each number's place
// in the sorted list.
#include "table.cuh"

extern "C" __global__ void collect(const unsigned long long* numbers, count_t n, unsigned long long* slots, count_t bits,
                                   unsigned long long* distinct) {
    const count_t i = thread_number();
    if (i < n) Table{slots, int(bits), distinct}.add(numbers[i]);
}

extern "C" __global__ void encode(const unsigned long long* numbers, count_t n, const unsigned long long* sorted, count_t distinct,
                                  byte* codes) {
    const count_t i = thread_number();
    if (i < n) codes[i] = byte(place_of(numbers[i], sorted, distinct));
}
