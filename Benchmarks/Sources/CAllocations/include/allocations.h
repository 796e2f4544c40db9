#pragma once
#include <stdint.h>

/// Counts allocations of all threads from now on, beginning at zero.
void allocations_begin(void);
/// Stops counting.
void allocations_end(uint64_t *count, uint64_t *bytes);
/// Bytes that the program has asked for and not given back.
uint64_t allocations_in_use(void);

/// One arena for all threads, so that `allocations_in_use` sees everything. Before the first thread.
void allocations_one_arena(void);
