// proxy_client direct|proxied PORT BYTES REQUESTS CORE: asks the server at 127.0.0.1:PORT that often for BYTES, over one
// connection, and prints the seconds from the first request to the last byte. It stays on CORE, unless that is -1.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static char buffer[256 * 1024];

static void fail(const char* what) {
    perror(what);
    exit(1);
}

static int dial(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(0x7f000001)};
    const int one = 1;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || connect(fd, (struct sockaddr*)&address, sizeof address) < 0) fail("connect");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    return fd;
}

static void send_text(int fd, const char* text) {
    if (send(fd, text, strlen(text), 0) != (ssize_t)strlen(text)) fail("send");
}

static void open_tunnel(int fd, const char* port) {
    char text[128];
    snprintf(text, sizeof text, "CONNECT 127.0.0.1:%s HTTP/1.1\r\n\r\n", port);
    send_text(fd, text);
    size_t size = 0;
    while (size < 4 || memcmp(buffer + size - 4, "\r\n\r\n", 4) != 0)
        if (recv(fd, buffer + size++, 1, 0) != 1) fail("the proxy's answer");
    if (memcmp(buffer, "HTTP/1.1 200", 12) != 0) fail("refused");
}

static void stay_on(int core) {
    cpu_set_t cores;
    if (core < 0) return;
    CPU_ZERO(&cores);
    CPU_SET(core, &cores);
    if (sched_setaffinity(0, sizeof cores, &cores) < 0) fail("sched_setaffinity");
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int argc, char** argv) {
    if (argc != 6) return 2;
    stay_on(atoi(argv[5]));
    const int proxied = strcmp(argv[1], "proxied") == 0;
    const int fd = dial(proxied ? 3128 : atoi(argv[2]));
    if (proxied) open_tunnel(fd, argv[2]);
    char line[64];
    snprintf(line, sizeof line, "%s\n", argv[3]);
    const double begin = now();
    for (int i = atoi(argv[4]); i > 0; --i) {
        send_text(fd, line);
        for (long long left = atoll(argv[3]); left > 0;) {
            const ssize_t got = recv(fd, buffer, sizeof buffer, 0);
            if (got <= 0) fail("recv");
            left -= got;
        }
    }
    printf("%.9f\n", now() - begin);
    return 0;
}
