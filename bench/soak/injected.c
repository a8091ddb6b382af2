/* A slow disk and a stepped clock for one process, as a shared file says while the process runs.
 *
 * Preloaded into a process, this delays fsync and fdatasync, and adds an offset to the wall clock. The monotonic clock
 * stays as it is, as it does where an administrator or NTP sets a machine's clock. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct injected {
    int64_t clock_offset_ns;
    int64_t sync_delay_us;
};

static const volatile struct injected nothing;
static const volatile struct injected *injected = &nothing;
static int (*real_clock_gettime)(clockid_t, struct timespec *);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);

__attribute__((constructor)) static void begin(void) {
    real_clock_gettime = dlsym(RTLD_NEXT, "clock_gettime");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    const char *path = getenv("SOAK_INJECTED");
    int file = path == NULL ? -1 : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    void *mapped = mmap(NULL, sizeof(struct injected), PROT_READ, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) injected = mapped;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *at) {
    if (real_clock_gettime == NULL) begin(); /* another library's constructor came first */
    int failed = real_clock_gettime(clock, at);
    int64_t offset = injected->clock_offset_ns;
    if (failed || offset == 0 || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return failed;
    int64_t ns = at->tv_sec * 1000000000LL + at->tv_nsec + offset;
    at->tv_sec = ns / 1000000000LL;
    at->tv_nsec = ns % 1000000000LL;
    return 0;
}

int gettimeofday(struct timeval *restrict at, void *restrict zone) {
    (void)zone;
    struct timespec now;
    if (clock_gettime(CLOCK_REALTIME, &now)) return -1;
    at->tv_sec = now.tv_sec;
    at->tv_usec = now.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *at) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (at != NULL) *at = now.tv_sec;
    return now.tv_sec;
}

int fsync(int file) {
    if (injected->sync_delay_us > 0) usleep((useconds_t)injected->sync_delay_us);
    return real_fsync(file);
}

int fdatasync(int file) {
    if (injected->sync_delay_us > 0) usleep((useconds_t)injected->sync_delay_us);
    return real_fdatasync(file);
}
