#define _GNU_SOURCE
#include "measure.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static double seconds(struct timeval time) { return (double)time.tv_sec + (double)time.tv_usec / 1e6; }

double cpu_seconds(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double monotonic_seconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

long resident_bytes(void) {
    // What /proc/self/status says is behind by some dozens of pages for each thread.
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    char line[256];
    long kilobytes = -1;
    while (file && kilobytes < 0 && fgets(line, sizeof line, file)) sscanf(line, "Rss: %ld", &kilobytes);
    if (file) fclose(file);
    return kilobytes < 0 ? -1 : kilobytes * 1024;
}

void raise_descriptor_limit(void) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit)) return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

long ask_server(int port, const char *path) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval patience = {.tv_sec = 60};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char text[2048];
    int length = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: bench\r\nConnection: close\r\n\r\n", path);
    size_t got = 0;
    if (!connect(fd, (struct sockaddr *)&address, sizeof address) && send(fd, text, (size_t)length, MSG_NOSIGNAL) == length)
        for (ssize_t count; (count = recv(fd, text + got, sizeof text - 1 - got, 0)) > 0;) got += (size_t)count;
    close(fd);
    text[got] = 0;
    char *body = strstr(text, "\r\n\r\n");
    return got && body ? atol(body + 4) : -1;
}

void complain(const char *text) { fprintf(stderr, "%s\n", text); }

static long counter(const char *name) {
    long (*count)(void) = (long (*)(void))dlsym(RTLD_DEFAULT, name);
    return count ? count() : -1;
}

long counted_allocations(void) { return counter("allocation_count"); }

long counted_bytes(void) { return counter("allocated_bytes"); }

long slow_lookups(void) { return counter("lookups_begun"); }
