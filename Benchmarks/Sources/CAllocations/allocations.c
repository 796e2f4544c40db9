// The program's own malloc: glibc's, and a count while one is wanted. The linker prefers it for every library too.
#include "allocations.h"
#include <errno.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stddef.h>

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_bool counting;
static atomic_uint_fast64_t allocations;
static atomic_uint_fast64_t allocated;

static inline void note(size_t bytes) {
  if (__builtin_expect(atomic_load_explicit(&counting, memory_order_relaxed), 0)) {
    atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&allocated, bytes, memory_order_relaxed);
  }
}

void *malloc(size_t bytes) {
  note(bytes);
  return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  note(count * bytes);
  return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes) {
  note(bytes);
  return __libc_realloc(old, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
  note(bytes);
  return __libc_memalign(alignment, bytes);
}

void *memalign(size_t alignment, size_t bytes) { return aligned_alloc(alignment, bytes); }

int posix_memalign(void **place, size_t alignment, size_t bytes) {
  void *made = aligned_alloc(alignment, bytes);
  if (!made) return ENOMEM;
  *place = made;
  return 0;
}

void allocations_begin(void) {
  atomic_store(&allocations, 0);
  atomic_store(&allocated, 0);
  atomic_store(&counting, 1);
}

void allocations_end(uint64_t *count, uint64_t *bytes) {
  atomic_store(&counting, 0);
  *count = atomic_load(&allocations);
  *bytes = atomic_load(&allocated);
}

uint64_t allocations_in_use(void) {
  struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

void allocations_one_arena(void) { mallopt(M_ARENA_MAX, 1); }
