#pragma once

/// The processor time of this process so far, in user mode and in the kernel, in seconds.
double cpu_seconds(void);

/// Seconds of a clock that never jumps.
double monotonic_seconds(void);

/// The memory of this process that is resident, in bytes.
long resident_bytes(void);

/// Lets this process open as many descriptors as the system allows it.
void raise_descriptor_limit(void);

/// Asks the benchmark's own server at a port of this machine for a number; -1 if it gives none.
///
/// A blocking request on a connection of its own, for use beside what is measured.
long ask_server(int port, const char *path);

/// How many lookups of slow names have begun; -1 unless the slow resolver was loaded before the program.
long slow_lookups(void);

/// Writes a line to standard error.
void complain(const char *text);

/// The heap allocations of this process so far; -1 unless the counters were loaded before the program.
long counted_allocations(void);

/// The bytes that all those allocations have asked for; -1 unless the counters were loaded before the program.
long counted_bytes(void);
