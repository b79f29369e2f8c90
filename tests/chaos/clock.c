/* A wall clock that can be stepped: CLOCK_REALTIME plus an offset in milliseconds from the file named by CHAOS_CLOCK.
   Loaded before libc by LD_PRELOAD. Clocks that measure lengths are left alone, as on a machine whose clock is set. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const volatile int64_t *offset;
static int (*real_clock_gettime)(clockid_t, struct timespec *);

__attribute__((constructor)) static void load(void) {
  real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
  const char *path = getenv("CHAOS_CLOCK");
  int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
  if (file >= 0) {
    void *mapped = mmap(0, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) offset = mapped;
    close(file);
  }
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  if (!real_clock_gettime) load();
  int result = real_clock_gettime(clock, now);
  if (result == 0 && offset && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    int64_t ns = now->tv_sec * INT64_C(1000000000) + now->tv_nsec + *offset * INT64_C(1000000);
    now->tv_sec = ns / INT64_C(1000000000);
    now->tv_nsec = ns % INT64_C(1000000000);
  }
  return result;
}

int gettimeofday(struct timeval *now, void *zone) {
  (void)zone;
  struct timespec found;
  int result = clock_gettime(CLOCK_REALTIME, &found);
  now->tv_sec = found.tv_sec;
  now->tv_usec = found.tv_nsec / 1000;
  return result;
}

time_t time(time_t *where) {
  struct timespec found;
  clock_gettime(CLOCK_REALTIME, &found);
  if (where) *where = found.tv_sec;
  return found.tv_sec;
}
