#include "options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *argument) {
    fprintf(stderr, "curl-baseline: what is %s? The options are listed in BenchKit/Settings.swift.\n", argument);
    exit(64);
}

struct options options_read(int argc, char **argv) {
    struct options options = {.concurrency = 1, .requests = 1000, .bytes = 200, .http = 1, .step = 4000, .seconds = 3, .isDeferred = 1};
    if (argc < 2) fail("missing");
    options.scenario = argv[1];
    for (int i = 2; i < argc; i++) {
        char *value = strchr(argv[i], '=');
        if (!value) fail(argv[i]);
        size_t length = (size_t)(value++ - argv[i]);
#define IS(name) (length == strlen(name) && !strncmp(argv[i], name, length))
        if (IS("url")) options.url = value;
        else if (IS("idle-url")) options.idleURL = value;
        else if (IS("ca")) options.ca = value;
        else if (IS("port")) options.port = atoi(value);
        else if (IS("concurrency")) options.concurrency = atoi(value);
        else if (IS("requests")) options.requests = atoi(value);
        else if (IS("warmup")) options.warmup = atoi(value);
        else if (IS("idle")) options.idle = atoi(value);
        else if (IS("step")) options.step = atoi(value);
        else if (IS("seconds")) options.seconds = atoi(value);
        else if (IS("http")) options.http = atoi(value);
        else if (IS("bytes")) options.bytes = atol(value);
        else if (IS("buffer")) options.buffer = atol(value);
        else if (IS("reading")) options.isStreamed = !strcmp(value, "streamed");
        else if (IS("epoll")) options.isDeferred = strcmp(value, "textbook") != 0;
        else if (IS("memory")) options.isFresh = !strcmp(value, "fresh");
        else fail(argv[i]);
    }
    if (!options.url || options.concurrency < 1 || options.requests < 1 || options.step < 1) fail("missing");
    return options;
}
