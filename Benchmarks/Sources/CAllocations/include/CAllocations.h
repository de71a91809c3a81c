#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdint.h>

// The allocations of the calling thread since its start.
uint64_t CAllocations_count(void);
uint64_t CAllocations_bytes(void);

#endif
