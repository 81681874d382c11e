// Stands in front of the C library's resolver in a program that loads it before all else: names below slow.invalid are
// looked up as if no name server answered, all others as ever.
#define _GNU_SOURCE
#include "slow_names.h"

#include <dlfcn.h>
#include <netdb.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static atomic_long begun;

long lookups_begun(void) { return atomic_load(&begun); }

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    if (name && strstr(name, "slow.invalid")) {
        atomic_fetch_add(&begun, 1);
        sleep(5);
        return EAI_AGAIN;
    }
    int (*next)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
        (int (*)(const char *, const char *, const struct addrinfo *, struct addrinfo **))dlsym(RTLD_NEXT, "getaddrinfo");
    return next(name, service, hints, result);
}
