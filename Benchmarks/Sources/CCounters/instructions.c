#include "counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

static int counter = -1;

int start_counting_instructions(void) {
    struct perf_event_attr wanted = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof wanted,
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .inherit = 1,
        // All of the time or not at all: a counter that is shared with others would only estimate.
        .pinned = 1,
    };
    counter = (int)syscall(SYS_perf_event_open, &wanted, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (counter < 0) return errno;
    return instruction_count() > 0 ? 0 : EBUSY;
}

long instruction_count(void) {
    uint64_t value;
    return read(counter, &value, sizeof value) == sizeof value ? (long)value : -1;
}
