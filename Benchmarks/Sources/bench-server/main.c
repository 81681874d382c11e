// A keep-alive HTTP/1.1 server of one thread on epoll, for what nginx cannot do.
//
// usage: bench-server              prints its port and serves
//        bench-server ports N      prints N ports that nobody uses, and ends
//
//   GET /hold       no answer until /release is asked for
//   GET /held       how many requests are held
//   GET /release    answers all that are held; how many those were
//   POST /spend     the first request of a connection is answered; on a used one, the connection is closed instead
//   GET /seen       how often /spend was asked for
//   anything else   the same 200 bytes of JSON each time
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_FD (1 << 20)

// What has come of a connection's next request. Nothing is kept of those that are answered at once.
struct connection {
    char *head;
    size_t size;
    long bodyLeft;
    char isUsed, isHeld, isSpending;
};

static struct connection *connections;
static int topDescriptor, poller;
static long held, seen;
static char answer[512];
static size_t answerLength;

static int openListener(int *port) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4096) ||
        getsockname(listener, (struct sockaddr *)&address, &length))
        exit(1);
    *port = ntohs(address.sin_port);
    return listener;
}

static void closeConnection(int fd) {
    if (connections[fd].isHeld) held--;
    free(connections[fd].head);
    memset(&connections[fd], 0, sizeof connections[fd]);
    close(fd);
}

static void sendAll(int fd, const char *bytes, size_t length) {
    if (send(fd, bytes, length, 0) != (ssize_t)length) closeConnection(fd);
}

static void sendNumber(int fd, long number) {
    char body[32], text[256];
    int size = snprintf(body, sizeof body, "%ld\n", number);
    int length = snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size, body);
    sendAll(fd, text, (size_t)length);
}

static long releaseAll(void) {
    long count = held;
    for (int fd = 0; fd <= topDescriptor; fd++)
        if (connections[fd].isHeld) {
            connections[fd].isHeld = 0;
            sendAll(fd, answer, answerLength);
        }
    held = 0;
    return count;
}

static void endRequest(int fd) {
    struct connection *connection = &connections[fd];
    free(connection->head);
    connection->head = NULL;
    connection->size = 0;
    connection->bodyLeft = 0;
    connection->isUsed = 1;
}

// Answers a request whose head is there, and its body too.
static void serve(int fd, const char *head) {
    struct connection *connection = &connections[fd];
    if (connection->isSpending) {
        char wasUsed = connection->isUsed;
        connection->isSpending = 0;
        seen++;
        endRequest(fd);
        if (wasUsed) closeConnection(fd);
        else sendAll(fd, answer, answerLength);
        return;
    }
    int isHold = !strncmp(head, "GET /hold ", 10), isHeld = !strncmp(head, "GET /held ", 10);
    int isRelease = !strncmp(head, "GET /release ", 13), isSeen = !strncmp(head, "GET /seen ", 10);
    int isLast = strcasestr(head, "\r\nConnection: close") != NULL;
    endRequest(fd);
    if (isHold) {
        connection->isHeld = 1;
        held++;
        return;
    }
    if (isHeld) sendNumber(fd, held);
    else if (isRelease) sendNumber(fd, releaseAll());
    else if (isSeen) sendNumber(fd, seen);
    else sendAll(fd, answer, answerLength);
    if (isLast) closeConnection(fd);
}

// Takes bytes of a connection. Clients send one request at a time.
static void take(int fd, char *bytes, size_t count) {
    struct connection *connection = &connections[fd];
    if (connection->bodyLeft > 0) {
        connection->bodyLeft -= (long)count;
        if (connection->bodyLeft <= 0) serve(fd, "");
        return;
    }
    char *head = bytes;
    if (connection->head) {
        connection->head = realloc(connection->head, connection->size + count + 1);
        memcpy(connection->head + connection->size, bytes, count);
        head = connection->head;
        count += connection->size;
        connection->size = count;
    }
    head[count] = 0;
    char *end = strstr(head, "\r\n\r\n");
    if (!end) {
        if (connection->head) return;
        connection->head = malloc(count + 1);
        memcpy(connection->head, head, count);
        connection->size = count;
        return;
    }
    connection->isSpending = !strncmp(head, "POST /spend ", 12);
    char *length = strcasestr(head, "\r\nContent-Length:");
    long missing = length && length < end ? atol(length + 17) - (long)(count - (size_t)(end + 4 - head)) : 0;
    if (missing > 0) {
        connection->bodyLeft = missing;
        return;
    }
    serve(fd, head);
}

static void acceptAll(int listener) {
    for (int client; (client = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        int one = 1;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (client >= MAX_FD) {
            close(client);
            continue;
        }
        if (client > topDescriptor) topDescriptor = client;
        struct epoll_event event = {.events = EPOLLIN, .data.fd = client};
        epoll_ctl(poller, EPOLL_CTL_ADD, client, &event);
    }
}

int main(int argc, char **argv) {
    int port;
    if (argc == 3 && !strcmp(argv[1], "ports")) {
        // All are held until the end, so that none comes twice.
        for (int i = 0; i < atoi(argv[2]); i++) {
            openListener(&port);
            printf("%d\n", port);
        }
        return 0;
    }
    if (argc != 1) {
        fprintf(stderr, "usage: bench-server [ports N]\n");
        return 64;
    }
    signal(SIGPIPE, SIG_IGN);
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    connections = calloc(MAX_FD, sizeof *connections);
    int listener = openListener(&port);
    printf("%d\n", port);
    fflush(stdout);

    char body[201];
    memset(body, 'x', 200);
    memcpy(body, "{\"text\":\"", 9);
    memcpy(body + 198, "\"}", 2);
    body[200] = 0;
    answerLength = (size_t)snprintf(answer, sizeof answer,
                                    "HTTP/1.1 200 OK\r\nServer: bench\r\nDate: Sat, 21 Nov 2026 00:00:00 GMT\r\n"
                                    "Content-Type: application/json\r\nConnection: keep-alive\r\n"
                                    "Content-Length: 200\r\n\r\n%s", body);

    poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(poller, EPOLL_CTL_ADD, listener, &event);
    static struct epoll_event events[512];
    static char buffer[65536];
    for (;;) {
        int count = epoll_wait(poller, events, 512, -1);
        for (int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if (fd == listener) {
                acceptAll(listener);
                continue;
            }
            ssize_t got = recv(fd, buffer, sizeof buffer - 1, 0);
            if (got > 0) take(fd, buffer, (size_t)got);
            // One that was answered and closed on the way is gone already.
            else if (got == 0 || (errno != EAGAIN && errno != EBADF)) closeConnection(fd);
        }
    }
}
