// hiredis reads the replies of the server, bounded.
#ifndef SWIFT_HTTP_RECOVERY_CHIREDIS_SHIM_H
#define SWIFT_HTTP_RECOVERY_CHIREDIS_SHIM_H

#include <hiredis/hiredis.h>
#include <stdlib.h>

#ifdef __linux__
#include <sys/eventfd.h>
#endif

// hiredis allocates an array before its elements have arrived, on the server's word alone; no reply that is asked for
// has more elements than this.
#define CHIREDIS_MAX_ELEMENTS 1024

#if HIREDIS_MAJOR >= 1
typedef size_t chiredis_count;
#else
typedef int chiredis_count;
#endif

// A reader whose arrays are bounded; `functions` has to live as long as the reader.
typedef struct chiredis_reader {
    redisReader *reader;
    redisReplyObjectFunctions functions;
} chiredis_reader;

static inline void *chiredis_create_array(const redisReadTask *task, chiredis_count count)
{
    if (count > CHIREDIS_MAX_ELEMENTS) return NULL;
    return ((redisReplyObjectFunctions *)task->privdata)->createArray(task, count);
}

static inline chiredis_reader *chiredis_reader_create(void)
{
    chiredis_reader *bounded = (chiredis_reader *)calloc(1, sizeof(chiredis_reader));
    if (bounded == NULL) return NULL;
    bounded->reader = redisReaderCreate();
    if (bounded->reader == NULL) {
        free(bounded);
        return NULL;
    }
    bounded->functions = *bounded->reader->fn;
    bounded->functions.createArray = chiredis_create_array;
    bounded->reader->privdata = bounded->reader->fn;
    bounded->reader->fn = &bounded->functions;
    return bounded;
}

static inline void chiredis_reader_free(chiredis_reader *bounded)
{
    redisReaderFree(bounded->reader);
    free(bounded);
}

// The bytes that wait for the rest of their reply.
static inline size_t chiredis_reader_pending(const chiredis_reader *bounded)
{
    return bounded->reader->len - bounded->reader->pos;
}

#endif
