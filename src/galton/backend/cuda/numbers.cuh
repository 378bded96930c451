// Infinity, which NVRTC has no header for.
#pragma once

#ifdef __CUDACC_RTC__
#define INFINITE __longlong_as_double(0x7ff0000000000000ll)
#else
#define INFINITE __builtin_huge_val()
#endif
