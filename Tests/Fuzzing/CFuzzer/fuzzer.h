#include <stddef.h>
#include <stdint.h>

/// libFuzzer's own loop, which the compiler links with `-sanitize=fuzzer`.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*run)(const uint8_t *bytes, size_t size));
