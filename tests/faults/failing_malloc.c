// malloc that fails: the n-th request of so many bytes or more, once or from then on. Preloaded.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_long met, fails_at;  // requests so far; 0: none fails
static size_t least = (size_t)-1;
static int lasting;

void linsep_fail(long n, size_t bytes, int for_good) { met = 0, least = bytes, lasting = for_good, fails_at = n; }
long linsep_met(void) { return met; }

static int refused(size_t size) {
  if (size < least) return 0;
  const long now = ++met, n = fails_at;
  if (n == 0 || (lasting ? now < n : now != n)) return 0;
  errno = ENOMEM;
  return 1;
}

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
void *malloc(size_t size) { return refused(size) ? NULL : __libc_malloc(size); }
void *calloc(size_t n, size_t size) { return refused(n * size) ? NULL : __libc_calloc(n, size); }
void *realloc(void *old, size_t size) { return refused(size) ? NULL : __libc_realloc(old, size); }
void *aligned_alloc(size_t place, size_t size) { return refused(size) ? NULL : __libc_memalign(place, size); }
int posix_memalign(void **out, size_t place, size_t size) {
  if (refused(size)) return ENOMEM;
  *out = __libc_memalign(place, size);
  return *out ? 0 : ENOMEM;
}
