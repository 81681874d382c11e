// Typed doors to libcurl's variadic functions, which Swift cannot call.
#ifndef SWIFT_HTTP_RECOVERY_CCURL_SHIM_H
#define SWIFT_HTTP_RECOVERY_CCURL_SHIM_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdint.h>
#include <time.h>

#ifdef __linux__
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#endif

#if LIBCURL_VERSION_NUM < 0x075500
#error "libcurl 7.85 or later is needed (CURLOPT_PROTOCOLS_STR)"
#endif

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value)
{
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value)
{
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value)
{
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value)
{
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_list(CURL *easy, CURLoption option, struct curl_slist *value)
{
    return curl_easy_setopt(easy, option, value);
}

// The bytes are not copied: they must outlive the handle.
static inline CURLcode ccurl_set_blob(CURL *easy, CURLoption option, void *bytes, size_t count)
{
    struct curl_blob blob = { bytes, count, CURL_BLOB_NOCOPY };
    return curl_easy_setopt(easy, option, &blob);
}

// Write, header and read callbacks have one shape.
typedef size_t (*ccurl_data_callback)(char *bytes, size_t size, size_t count, void *context);

static inline CURLcode ccurl_set_data_callback(CURL *easy, CURLoption option, ccurl_data_callback callback)
{
    return curl_easy_setopt(easy, option, callback);
}

static inline CURLcode ccurl_set_prereq_callback(CURL *easy, curl_prereq_callback callback)
{
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

static inline CURLcode ccurl_set_debug_callback(CURL *easy, curl_debug_callback callback)
{
    return curl_easy_setopt(easy, CURLOPT_DEBUGFUNCTION, callback);
}

static inline CURLcode ccurl_set_open_socket_callback(CURL *easy, curl_opensocket_callback callback)
{
    return curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, callback);
}

static inline CURLcode ccurl_set_close_socket_callback(CURL *easy, curl_closesocket_callback callback)
{
    return curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, callback);
}

static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value)
{
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLcode ccurl_get_offset(CURL *easy, CURLINFO info, curl_off_t *value)
{
    return curl_easy_getinfo(easy, info, value);
}

static inline const char *ccurl_get_string(CURL *easy, CURLINFO info)
{
    char *value = NULL;
    return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}

// Whether the final response has the field. A libcurl without this interface says neither yes nor no.
static inline _Bool ccurl_has_header(CURL *easy, const char *name)
{
    struct curl_header *header = NULL;
    CURLHcode code = curl_easy_header(easy, name, 0, CURLH_HEADER, -1, &header);
    return code == CURLHE_OK || code == CURLHE_NOT_BUILT_IN;
}

static inline CURLcode ccurl_set_progress_callback(CURL *easy, curl_xferinfo_callback callback)
{
    return curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, callback);
}

// What OpenSSL has for the connection that a transfer has; null without one, and where TLS is another library's.
static inline void *ccurl_get_openssl(CURL *easy)
{
    struct curl_tlssessioninfo *session = NULL;
    if (curl_easy_getinfo(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || session == NULL) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

// The connection's socket, or CURL_SOCKET_BAD.
static inline curl_socket_t ccurl_get_socket(CURL *easy)
{
    curl_socket_t value = CURL_SOCKET_BAD;
    return curl_easy_getinfo(easy, CURLINFO_ACTIVESOCKET, &value) == CURLE_OK ? value : CURL_SOCKET_BAD;
}

static inline void *ccurl_get_private(CURL *easy)
{
    char *value = NULL;
    return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value)
{
    return curl_multi_setopt(multi, option, value);
}

static inline CURLMcode ccurl_multi_set_pointer(CURLM *multi, CURLMoption option, void *value)
{
    return curl_multi_setopt(multi, option, value);
}

// Options of version 8.20. An older libcurl at run time refuses their numbers, which never mean anything else.
#if LIBCURL_VERSION_NUM < 0x081400
#define CURLMOPT_RESOLVE_THREADS_MAX ((CURLMoption)20)
#define CURLMOPT_QUICK_EXIT ((CURLMoption)21)
#endif

static inline void ccurl_multi_set_resolver(CURLM *multi, long most_threads)
{
    (void)curl_multi_setopt(multi, CURLMOPT_RESOLVE_THREADS_MAX, most_threads);
    (void)curl_multi_setopt(multi, CURLMOPT_QUICK_EXIT, 1L);
}

static inline CURLMcode ccurl_multi_set_socket_callback(CURLM *multi, curl_socket_callback callback)
{
    return curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, callback);
}

static inline CURLMcode ccurl_multi_set_timer_callback(CURLM *multi, curl_multi_timer_callback callback)
{
    return curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, callback);
}

static inline CURLSHcode ccurl_share_set(CURLSH *share, curl_lock_data what)
{
    return curl_share_setopt(share, CURLSHOPT_SHARE, what);
}

static inline unsigned int ccurl_version_number(void)
{
    return curl_version_info(CURLVERSION_NOW)->version_num;
}

static inline _Bool ccurl_has_feature(int feature)
{
    return (curl_version_info(CURLVERSION_NOW)->features & feature) != 0;
}

static inline const char *ccurl_version_text(void)
{
    return curl_version_info(CURLVERSION_NOW)->version;
}

// The result of a message; the union in CURLMsg is awkward from Swift.
static inline CURLcode ccurl_message_result(const CURLMsg *message)
{
    return message->data.result;
}

// The processor that the thread is on; Glibc's module leaves it out.
int sched_getcpu(void);

// Takes the lock if that can be done within so many nanoseconds. Older systems know a limit on the wall clock only, which may
// be set meanwhile.
static inline int ccurl_lock_within(pthread_mutex_t *mutex, uint64_t nanoseconds)
{
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    nanoseconds += (uint64_t)limit.tv_nsec;
    limit.tv_sec += (time_t)(nanoseconds / 1000000000);
    limit.tv_nsec = (long)(nanoseconds % 1000000000);
    return pthread_mutex_timedlock(mutex, &limit);
}

#endif
