#include "CAllocations.h"

#include <stddef.h>

// glibc's own functions, under names that remain when malloc is replaced.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static _Thread_local uint64_t count;
static _Thread_local uint64_t bytes;

uint64_t CAllocations_count(void) { return count; }
uint64_t CAllocations_bytes(void) { return bytes; }

void *malloc(size_t size) {
    count += 1;
    bytes += size;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count += 1;
    bytes += number * size;
    return __libc_calloc(number, size);
}

void *realloc(void *pointer, size_t size) {
    count += 1;
    bytes += size;
    return __libc_realloc(pointer, size);
}
