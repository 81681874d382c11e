// A keep-alive HTTP/1.1 server of one thread on epoll: every request gets the same 200-byte JSON answer.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if(bind(listener, (struct sockaddr *)&address, length) || listen(listener, 4096) ||
       getsockname(listener, (struct sockaddr *)&address, &length))
        return 1;
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);

    char body[201], answer[512];
    memset(body, 'x', 200);
    memcpy(body, "{\"text\":\"", 9);
    memcpy(body + 198, "\"}", 2);
    body[200] = 0;
    int answerLength = snprintf(answer, sizeof answer,
                                "HTTP/1.1 200 OK\r\nServer: bench\r\nDate: Sat, 21 Nov 2026 00:00:00 GMT\r\n"
                                "Content-Type: application/json\r\nConnection: keep-alive\r\n"
                                "Content-Length: 200\r\n\r\n%s", body);

    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = listener};
    epoll_ctl(epoll, EPOLL_CTL_ADD, listener, &event);
    static struct epoll_event events[512];
    static char buffer[65536];
    for(;;) {
        int count = epoll_wait(epoll, events, 512, -1);
        for(int i = 0; i < count; i++) {
            int fd = events[i].data.fd;
            if(fd == listener) {
                int client = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
                if(client < 0)
                    continue;
                int one = 1;
                setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                event = (struct epoll_event){.events = EPOLLIN, .data.fd = client};
                epoll_ctl(epoll, EPOLL_CTL_ADD, client, &event);
                continue;
            }
            // The clients send small requests without bodies, one at a time.
            ssize_t got = recv(fd, buffer, sizeof buffer, 0);
            if(got <= 0 || send(fd, answer, (size_t)answerLength, 0) < 0)
                close(fd);
        }
    }
}
