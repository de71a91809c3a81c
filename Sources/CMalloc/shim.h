#ifndef CMALLOC_SHIM_H
#define CMALLOC_SHIM_H
#include <malloc.h>

// The constants are macros with casts, which do not import.
static inline int CMalloc_set_mmap_threshold(int byte_count) { return mallopt(M_MMAP_THRESHOLD, byte_count); }
static inline int CMalloc_set_trim_threshold(int byte_count) { return mallopt(M_TRIM_THRESHOLD, byte_count); }
static inline int CMalloc_set_arena_max(int count) { return mallopt(M_ARENA_MAX, count); }

// Gives what is free back to the system, in the middle of the heaps too. Only glibc has that, and needs it.
static inline void CMalloc_trim(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
#endif
