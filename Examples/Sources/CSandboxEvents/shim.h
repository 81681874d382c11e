// What Linux has for waiting on many sockets: Swift's Glibc module leaves it out, and its union of pointers and
// numbers is kept out of the Swift code here.
#pragma once
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

/// What happened to the socket that was registered under a token.
struct sandbox_event {
    uint64_t token;
    uint32_t kinds;
};

static const uint32_t sandbox_event_in = EPOLLIN;
static const uint32_t sandbox_event_out = EPOLLOUT;
static const uint32_t sandbox_event_gone = EPOLLERR | EPOLLHUP;

static inline int sandbox_eventfd_create(void) { return eventfd(0, EFD_CLOEXEC); }
static inline int sandbox_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

static inline int sandbox_epoll_add(int poll, int socket, uint32_t kinds, uint64_t token) {
    struct epoll_event event = {.events = kinds, .data = {.u64 = token}};
    return epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event);
}

static inline int sandbox_epoll_change(int poll, int socket, uint32_t kinds, uint64_t token) {
    struct epoll_event event = {.events = kinds, .data = {.u64 = token}};
    return epoll_ctl(poll, EPOLL_CTL_MOD, socket, &event);
}

static inline int sandbox_epoll_wait(int poll, struct sandbox_event *events, int capacity, int milliseconds) {
    struct epoll_event found[256];
    int count = epoll_wait(poll, found, capacity < 256 ? capacity : 256, milliseconds);
    for (int index = 0; index < count; index++) {
        events[index].token = found[index].data.u64;
        events[index].kinds = found[index].events;
    }
    return count;
}
