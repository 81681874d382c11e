#pragma once

/// The number of heap allocations of this process so far.
long allocation_count(void);

/// The bytes that all those allocations have asked for.
long allocated_bytes(void);

/// The bytes of the heap that are in use, with what the allocator adds to each block.
long bytes_in_use(void);

/// Counts the instructions of the calling thread, and of those that it makes from now on, outside the kernel.
///
/// Returns 0, or the number of the error where the machine or the kernel does not let a program count them.
int start_counting_instructions(void);

/// The number of instructions so far; -1 where they are not counted.
long instruction_count(void);
