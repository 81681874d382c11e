// The same requests from C: curl_multi_socket_action on epoll, with changes to the epoll set applied before sleeping.
// usage: curl-baseline PORT CONCURRENCY REQUESTS
#define _GNU_SOURCE
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MAX_FD 65536
static struct { uint32_t registered, wanted; char hooked, dirty; } fds[MAX_FD];
static int dirty[MAX_FD], dirtyCount, epoll;
static double deadline = -1;
static long started, finished, total;

struct body { char bytes[1024]; size_t count; };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void control(int fd, uint32_t mask)
{
    struct epoll_event event = {.events = mask, .data.fd = fd};
    int op = !mask ? EPOLL_CTL_DEL : fds[fd].registered ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    epoll_ctl(epoll, op, fd, &event);
    fds[fd].registered = mask;
}

static int onSocket(CURL *easy, curl_socket_t fd, int what, void *context, void *data)
{
    (void)easy, (void)context, (void)data;
    uint32_t mask = what == CURL_POLL_IN ? EPOLLIN : what == CURL_POLL_OUT ? EPOLLOUT
                  : what == CURL_POLL_INOUT ? EPOLLIN | EPOLLOUT : 0;
    fds[fd].wanted = mask;
    if(!fds[fd].hooked) {
        if(fds[fd].registered != mask) control(fd, mask);
    }
    else if(!fds[fd].dirty) {
        fds[fd].dirty = 1;
        dirty[dirtyCount++] = fd;
    }
    return 0;
}

static int onTimer(CURLM *multi, long ms, void *context)
{
    (void)multi, (void)context;
    deadline = ms < 0 ? -1 : ms == 0 ? 0 : now() + (double)ms / 1e3;
    return 0;
}

static curl_socket_t onOpen(void *context, curlsocktype purpose, struct curl_sockaddr *a)
{
    (void)context, (void)purpose;
    int fd = socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
    if(fd >= 0) { memset(&fds[fd], 0, sizeof fds[fd]); fds[fd].hooked = 1; }
    return fd;
}

static int onClose(void *context, curl_socket_t fd)
{
    (void)context;
    char wasDirty = fds[fd].dirty;
    memset(&fds[fd], 0, sizeof fds[fd]);
    fds[fd].dirty = wasDirty;
    return close(fd);
}

static size_t onBody(char *bytes, size_t size, size_t count, void *context)
{
    struct body *body = context;
    if(body->count + size * count <= sizeof body->bytes) memcpy(body->bytes + body->count, bytes, size * count);
    body->count += size * count;
    return size * count;
}

static size_t onHeader(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes, (void)context;
    return size * count;
}

int main(int argc, char **argv)
{
    if(argc < 4) return 64;
    int concurrency = atoi(argv[2]);
    total = atol(argv[3]);
    char url[128];
    snprintf(url, sizeof url, "http://127.0.0.1:%s/bench", argv[1]);
    curl_global_init(CURL_GLOBAL_ALL);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    CURLM *multi = curl_multi_init();
    curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, onSocket);
    curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, onTimer);
    curl_multi_setopt(multi, CURLMOPT_MAXCONNECTS, 2L * concurrency);
    struct body *bodies = calloc((size_t)concurrency, sizeof *bodies);
    struct curl_slist *headers = curl_slist_append(NULL, "User-Agent: bench");
    headers = curl_slist_append(headers, "Accept: application/json");

    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    double start = now();
    for(int i = 0; i < concurrency && started < total; i++, started++) {
        CURL *easy = curl_easy_init();
        curl_easy_setopt(easy, CURLOPT_URL, url);
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
        curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
        curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 30000L);
        curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
        curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, onBody);
        curl_easy_setopt(easy, CURLOPT_WRITEDATA, &bodies[i]);
        curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, onHeader);
        curl_easy_setopt(easy, CURLOPT_PRIVATE, &bodies[i]);
        curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, onOpen);
        curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, onClose);
        curl_multi_add_handle(multi, easy);
    }
    static struct epoll_event events[256];
    while(finished < total) {
        int running, left;
        for(int i = 0; i < dirtyCount; i++) {
            int fd = dirty[i];
            fds[fd].dirty = 0;
            if(fds[fd].hooked && fds[fd].wanted && fds[fd].wanted != fds[fd].registered) control(fd, fds[fd].wanted);
        }
        dirtyCount = 0;
        double wait = deadline < 0 ? -1 : (deadline - now()) * 1e3;
        int ms = deadline < 0 ? -1 : wait <= 0 ? 0 : (int)wait + 1;
        int count = epoll_wait(epoll, events, 256, ms);
        for(int i = 0; i < count; i++) {
            int bits = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                       (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                       (events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
            curl_multi_socket_action(multi, events[i].data.fd, bits, &running);
        }
        if(deadline >= 0 && deadline <= now()) {
            deadline = -1;
            curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running);
        }
        CURLMsg *message;
        while((message = curl_multi_info_read(multi, &left))) {
            CURL *easy = message->easy_handle;
            long status = 0;
            struct body *body;
            curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
            curl_easy_getinfo(easy, CURLINFO_PRIVATE, &body);
            if(message->data.result || status != 200 || body->count != 200) {
                fprintf(stderr, "bad answer: %d %ld %zu\n", message->data.result, status, body->count);
                return 1;
            }
            body->count = 0;
            curl_multi_remove_handle(multi, easy);
            finished++;
            if(started < total) {
                started++;
                curl_easy_setopt(easy, CURLOPT_URL, url);
                curl_multi_add_handle(multi, easy);
            }
        }
    }
    double seconds = now() - start;
    getrusage(RUSAGE_SELF, &after);
    double cpu = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
                 (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec - before.ru_stime.tv_usec) / 1e6;
    printf("%.0f %.0f\n", (double)total / cpu, (double)total / seconds);
    return 0;
}
