// What Linux has for many sockets: Swift's Glibc module leaves it out, and its unions of pointers and numbers are kept
// out of the Swift code here. No system header is included: what this module would own then, others could not see.
#pragma once
#include <stddef.h>
#include <stdint.h>

/// What happened to the socket that was registered under a token.
struct sandbox_event {
    uint64_t token;
    uint32_t kinds;
};

extern const uint32_t sandbox_event_in;
extern const uint32_t sandbox_event_out;
extern const uint32_t sandbox_event_gone;

int sandbox_eventfd_create(void);
int sandbox_epoll_create(void);
int sandbox_epoll_add(int poll, int socket, uint32_t kinds, uint64_t token);
int sandbox_epoll_change(int poll, int socket, uint32_t kinds, uint64_t token);
int sandbox_epoll_wait(int poll, struct sandbox_event *events, int capacity, int milliseconds);

/// Asks the kernel to note when bytes arrive; what a listener is asked holds for the connections that it takes.
int sandbox_stamp_arrivals(int socket);

/// `recv`, and when the newest of the bytes arrived, in milliseconds of the system's clock; 0 where it was not noted.
intptr_t sandbox_receive(int socket, void *buffer, size_t size, int64_t *arrival);
