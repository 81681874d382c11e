#define _GNU_SOURCE
#include "loop.h"

#include <measure.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_FD 65536

// `isHooked`: opened by us, so that its end is seen, and changes may wait.
static struct { uint32_t registered, wanted; char isHooked, isDirty; } fds[MAX_FD];
static int dirty[MAX_FD], dirtyCount, poller, defers;
static CURLM *multi;
static double deadline = -1;

static void control(int fd, uint32_t mask) {
    struct epoll_event event = {.events = mask, .data.fd = fd};
    int operation = !mask ? EPOLL_CTL_DEL : fds[fd].registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    epoll_ctl(poller, operation, fd, &event);
    fds[fd].registered = mask;
}

static int onSocket(CURL *easy, curl_socket_t fd, int what, void *context, void *data) {
    (void)easy, (void)context, (void)data;
    uint32_t mask = what == CURL_POLL_IN ? EPOLLIN : what == CURL_POLL_OUT ? EPOLLOUT
                  : what == CURL_POLL_INOUT ? EPOLLIN | EPOLLOUT : 0;
    fds[fd].wanted = mask;
    if (!fds[fd].isHooked) {
        if (fds[fd].registered != mask) control(fd, mask);
    } else if (!fds[fd].isDirty) {
        fds[fd].isDirty = 1;
        dirty[dirtyCount++] = fd;
    }
    return 0;
}

static int onTimer(CURLM *of, long ms, void *context) {
    (void)of, (void)context;
    deadline = ms < 0 ? -1 : ms == 0 ? 0 : monotonic_seconds() + (double)ms / 1e3;
    return 0;
}

static curl_socket_t onOpen(void *context, curlsocktype purpose, struct curl_sockaddr *address) {
    (void)context, (void)purpose;
    int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
    if (fd >= MAX_FD) {
        close(fd);
        return CURL_SOCKET_BAD;
    }
    if (fd >= 0) {
        char wasDirty = fds[fd].isDirty;
        memset(&fds[fd], 0, sizeof fds[fd]);
        fds[fd].isHooked = 1;
        fds[fd].isDirty = wasDirty;
    }
    return fd;
}

static int onClose(void *context, curl_socket_t fd) {
    (void)context;
    char wasDirty = fds[fd].isDirty;
    memset(&fds[fd], 0, sizeof fds[fd]);
    fds[fd].isDirty = wasDirty;
    return close(fd);
}

void loop_open(int isDeferred, long cachedConnections, long connectionsPerHost) {
    defers = isDeferred;
    poller = epoll_create1(EPOLL_CLOEXEC);
    multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, onSocket);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, onTimer);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, cachedConnections);
    if (connectionsPerHost) curl_multi_setopt(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connectionsPerHost);
}

void loop_prepare(CURL *easy) {
    if (!defers) return;
    curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, onOpen);
    curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, onClose);
}

void loop_add(CURL *easy) { curl_multi_add_handle(multi, easy); }

static void applyChanges(void) {
    for (int i = 0; i < dirtyCount; i++) {
        int fd = dirty[i];
        fds[fd].isDirty = 0;
        if (fds[fd].isHooked && fds[fd].wanted && fds[fd].wanted != fds[fd].registered) control(fd, fds[fd].wanted);
    }
    dirtyCount = 0;
}

void loop_turn(int longestWait, void (*onEnd)(CURL *easy, CURLcode result)) {
    static struct epoll_event events[256];
    int running, left, timeout = longestWait;
    applyChanges();
    if (deadline >= 0) {
        double wait = (deadline - monotonic_seconds()) * 1e3;
        int ms = wait <= 0 ? 0 : wait > 60000 ? 60000 : (int)wait + 1;
        if (timeout < 0 || ms < timeout) timeout = ms;
    }
    int count = epoll_wait(poller, events, 256, timeout);
    for (int i = 0; i < count; i++) {
        int bits = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                   (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                   (events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
        curl_multi_socket_action(multi, events[i].data.fd, bits, &running);
    }
    if (deadline >= 0 && deadline <= monotonic_seconds()) {
        deadline = -1;
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
    }
    for (CURLMsg *message; (message = curl_multi_info_read(multi, &left));) {
        // The message goes with the handle.
        CURL *easy = message->easy_handle;
        CURLcode result = message->data.result;
        curl_multi_remove_handle(multi, easy);
        onEnd(easy, result);
    }
}
