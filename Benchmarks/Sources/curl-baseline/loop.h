#pragma once

#include <curl/curl.h>

/// A multi handle on epoll.
///
/// Textbook: the epoll set is changed as soon as libcurl asks for it. Deferred: changes are written down and applied
/// before the loop sleeps, so that a connection which is used again at once costs no system call.
void loop_open(int isDeferred, long cachedConnections, long connectionsPerHost);

/// What a new handle needs for deferred changes.
void loop_prepare(CURL *easy);

void loop_add(CURL *easy);

/// Handles what has happened, or waits for something to happen, but no longer than some milliseconds (-1: any time).
///
/// `onEnd` is called for each transfer that has ended, after its handle was taken out.
void loop_turn(int longestWait, void (*onEnd)(CURL *easy, CURLcode result));
