#pragma once

/// The number of heap allocations of this process so far.
long allocation_count(void);
