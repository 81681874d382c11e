#pragma once

/// How many lookups of names below `slow.invalid` have begun.
long lookups_begun(void);
