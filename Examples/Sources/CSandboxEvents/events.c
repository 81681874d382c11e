#include "CSandboxEvents.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>

const uint32_t sandbox_event_in = EPOLLIN;
const uint32_t sandbox_event_out = EPOLLOUT;
const uint32_t sandbox_event_gone = EPOLLERR | EPOLLHUP;

int sandbox_eventfd_create(void) { return eventfd(0, EFD_CLOEXEC); }

int sandbox_epoll_create(void) { return epoll_create1(EPOLL_CLOEXEC); }

int sandbox_epoll_add(int poll, int socket, uint32_t kinds, uint64_t token) {
    struct epoll_event event = {.events = kinds, .data = {.u64 = token}};
    return epoll_ctl(poll, EPOLL_CTL_ADD, socket, &event);
}

int sandbox_epoll_change(int poll, int socket, uint32_t kinds, uint64_t token) {
    struct epoll_event event = {.events = kinds, .data = {.u64 = token}};
    return epoll_ctl(poll, EPOLL_CTL_MOD, socket, &event);
}

int sandbox_epoll_wait(int poll, struct sandbox_event *events, int capacity, int milliseconds) {
    struct epoll_event found[256];
    int count = epoll_wait(poll, found, capacity < 256 ? capacity : 256, milliseconds);
    for (int index = 0; index < count; index++) {
        events[index].token = found[index].data.u64;
        events[index].kinds = found[index].events;
    }
    return count;
}

int sandbox_stamp_arrivals(int socket) {
    int on = 1;
    return setsockopt(socket, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
}

intptr_t sandbox_receive(int socket, void *buffer, size_t size, int64_t *arrival) {
    // The kernel writes a header and a `timespec`; the union aligns them.
    union {
        struct cmsghdr header;
        char bytes[CMSG_SPACE(sizeof(struct timespec))];
    } control;
    struct iovec part = {.iov_base = buffer, .iov_len = size};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    *arrival = 0;
    ssize_t count = recvmsg(socket, &message, 0);
    if (count <= 0) return count;
    for (struct cmsghdr *item = CMSG_FIRSTHDR(&message); item; item = CMSG_NXTHDR(&message, item)) {
        if (item->cmsg_level != SOL_SOCKET || item->cmsg_type != SCM_TIMESTAMPNS) continue;
        struct timespec time;
        memcpy(&time, CMSG_DATA(item), sizeof time);
        *arrival = (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
    }
    return count;
}
