// Loops that are compiled twice, for the processors of ten years ago and for those with twice as wide registers.
//
// Without fused multiplication: the results are the same on both.
#pragma once

// Not under ThreadSanitizer: it would watch the function that chooses among the clones, which runs before the library is
// loaded.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define GALTON_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define GALTON_WIDE
#endif
