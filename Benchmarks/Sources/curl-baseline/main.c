// The same requests from C: one multi handle, driven by curl_multi_socket_action on epoll.
//
// usage: curl-baseline load|flight|burst|post KEY=VALUE...
//
// Scenarios, keys and what is printed are those of all contestants: see BenchKit. Of its own it has
//   epoll=deferred|textbook    whether changes to the epoll set wait until the loop sleeps (deferred by default)
//   buffer=BYTES               CURLOPT_BUFFERSIZE
//   memory=kept|fresh          whether a body is collected into memory of the one before (kept by default)
#include "loop.h"
#include "options.h"

#include <measure.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct transfer {
    CURL *easy;
    char *bytes;
    size_t capacity;
    long count;
    int isHeld;
};

static struct options options;
static struct curl_slist *fields;
static int started, finished, total;

static size_t onBody(char *bytes, size_t size, size_t number, void *context) {
    struct transfer *transfer = context;
    size_t count = size * number;
    if (!options.isStreamed) {
        size_t needed = (size_t)transfer->count + count;
        if (needed > transfer->capacity) {
            curl_off_t length = -1;
            if (!transfer->count) curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
            if ((curl_off_t)needed < length) needed = (size_t)length;
            transfer->capacity = needed;
            transfer->bytes = realloc(transfer->bytes, needed);
        }
        memcpy(transfer->bytes + transfer->count, bytes, count);
    }
    transfer->count += (long)count;
    return count;
}

static size_t onHeader(char *bytes, size_t size, size_t number, void *context) {
    (void)bytes, (void)context;
    return size * number;
}

static void prepare(struct transfer *transfer, const char *url) {
    CURL *easy = transfer->easy = curl_easy_init();
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, fields);
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    int isHTTP2 = options.http == 2;
    curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)(isHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1));
    // A burst is what libcurl does by itself.
    if (isHTTP2 && strcmp(options.scenario, "burst")) curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    if (options.ca) curl_easy_setopt(easy, CURLOPT_CAINFO, options.ca);
    if (options.buffer) curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, options.buffer);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, 600000L);
    curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "");
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, onBody);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, onHeader);
    curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer);
    loop_prepare(easy);
}

static void start(struct transfer *transfer) {
    started++;
    transfer->count = 0;
    loop_add(transfer->easy);
}

static struct transfer *transferOf(CURL *easy) {
    struct transfer *transfer;
    curl_easy_getinfo(easy, CURLINFO_PRIVATE, &transfer);
    return transfer;
}

static void onEnd(CURL *easy, CURLcode result) {
    struct transfer *transfer = transferOf(easy);
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (result || status != 200 || transfer->count != options.bytes) {
        fprintf(stderr, "bad answer: %s, status %ld, %ld bytes\n", curl_easy_strerror(result), status, transfer->count);
        exit(1);
    }
    if (options.isFresh) {
        free(transfer->bytes);
        transfer->bytes = NULL;
        transfer->capacity = 0;
    }
    if (transfer->isHeld) return;
    finished++;
    if (started < total) {
        // As a program would do that asks for something else each time.
        curl_easy_setopt(easy, CURLOPT_URL, options.url);
        start(transfer);
    }
}

static struct transfer *make(int count, const char *url) {
    struct transfer *transfers = calloc((size_t)count, sizeof *transfers);
    for (int i = 0; i < count; i++) prepare(&transfers[i], url);
    return transfers;
}

static void run(struct transfer *transfers, int count, int requests) {
    started = finished = 0;
    total = requests;
    for (int i = 0; i < count && started < total; i++) start(&transfers[i]);
    while (finished < total) loop_turn(-1, onEnd);
}

/// Has some requests in flight that the server holds; they begin in steps, as its queue has an end.
static struct transfer *hold(int count, const char *url) {
    struct transfer *transfers = make(count, url);
    for (int i = 0; i < count;) {
        for (int last = i + options.step; i < count && i < last; i++) {
            transfers[i].isHeld = 1;
            loop_add(transfers[i].easy);
        }
        while (ask_server(options.port, "/held") < i)
            for (double end = monotonic_seconds() + 0.05; monotonic_seconds() < end;) loop_turn(10, onEnd);
    }
    return transfers;
}

static void load(void) {
    if (options.idle) hold(options.idle, options.idleURL);
    struct transfer *transfers = make(options.concurrency, options.url);
    if (options.warmup) run(transfers, options.concurrency, options.warmup);
    long allocations = counted_allocations(), bytes = counted_bytes();
    double cpu = cpu_seconds(), time = monotonic_seconds();
    run(transfers, options.concurrency, options.requests);
    double seconds = monotonic_seconds() - time;
    printf("cpu_us %.3f\n", (cpu_seconds() - cpu) * 1e6 / options.requests);
    printf("per_second %.0f\n", options.requests / seconds);
    if (allocations < 0) return;
    printf("allocations %.2f\n", (double)(counted_allocations() - allocations) / options.requests);
    printf("bytes %.0f\n", (double)(counted_bytes() - bytes) / options.requests);
}

static void wait_for(double seconds) {
    for (double end = monotonic_seconds() + seconds, now; (now = monotonic_seconds()) < end;)
        loop_turn((int)((end - now) * 1e3) + 1, onEnd);
}

static void flight(void) {
    run(make(1, options.idleURL), 1, 1);
    long before = resident_bytes();
    struct transfer *transfers = hold(options.concurrency, options.url);
    printf("bytes_each %.0f\n", (double)(resident_bytes() - before) / options.concurrency);
    // What the beginning leaves to be done is not the idle ones' doing.
    wait_for(1);
    double cpu = cpu_seconds();
    wait_for(options.seconds);
    printf("idle_ms_per_s %.4f\n", (cpu_seconds() - cpu) * 1e3 / options.seconds);
    ask_server(options.port, "/release");
    for (int i = 0; i < options.concurrency;) {
        if (transfers[i].count == options.bytes) i++;
        else loop_turn(-1, onEnd);
    }
}

static void burst(void) {
    double cpu = cpu_seconds();
    run(make(options.concurrency, options.url), options.concurrency, options.concurrency);
    printf("cpu_us %.3f\n", (cpu_seconds() - cpu) * 1e6 / options.concurrency);
}

static void onEndOfPost(CURL *easy, CURLcode result) {
    (void)easy, (void)result;
    finished++;
}

static void post(void) {
    struct transfer *transfer = make(1, options.idleURL);
    run(transfer, 1, 1);
    curl_easy_setopt(transfer->easy, CURLOPT_URL, options.url);
    curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDS, "{\"amount\":1}");
    long before = ask_server(options.port, "/seen");
    finished = 0;
    start(transfer);
    while (!finished) loop_turn(-1, onEndOfPost);
    printf("seen %ld\n", ask_server(options.port, "/seen") - before);
}

int main(int argc, char **argv) {
    options = options_read(argc, argv);
    raise_descriptor_limit();
    curl_global_init(CURL_GLOBAL_ALL);
    fields = curl_slist_append(NULL, "User-Agent: bench");
    fields = curl_slist_append(fields, "Accept: application/json");
    // The cache is not the limit; over HTTP/2 the number of streams of a connection is, which nginx sets to 128.
    int isBurst = !strcmp(options.scenario, "burst");
    long perHost = options.http == 2 && !isBurst ? (options.concurrency + 127) / 128 : 0;
    loop_open(options.isDeferred, 2L * (options.concurrency + options.idle), perHost);
    if (!strcmp(options.scenario, "load")) load();
    else if (!strcmp(options.scenario, "flight")) flight();
    else if (isBurst) burst();
    else if (!strcmp(options.scenario, "post")) post();
    else return 64;
    return 0;
}
