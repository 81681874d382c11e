#pragma once

/// What is measured, by key=value: see main.c.
struct options {
    const char *scenario, *url, *idleURL, *ca;
    int port, concurrency, requests, warmup, idle, step, seconds, http;
    /// The size of every body.
    long bytes;
    /// The size of libcurl's buffer; 0 is its own default.
    long buffer;
    int isDeferred, isStreamed, isFresh;
};

/// Reads the command line; ends the program if it makes no sense.
struct options options_read(int argc, char **argv);
