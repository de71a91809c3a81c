#ifndef CALLOCATIONS_H
#define CALLOCATIONS_H

#include <stdint.h>

// What the calling thread has allocated since it began.
uint64_t CAllocations_count(void);
uint64_t CAllocations_bytes(void);

#endif
