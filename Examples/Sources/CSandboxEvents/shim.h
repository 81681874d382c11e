// What Linux has for waiting on many sockets: Swift's Glibc module leaves it out, and its union of pointers and
// numbers is kept out of the Swift code here.
#pragma once
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

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

/// The milliseconds since the newest bytes came in on a socket, whether they were read or not; 0 where it is not known.
static inline uint32_t sandbox_milliseconds_since_data(int socket) {
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    return getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 ? info.tcpi_last_data_recv : 0;
}
