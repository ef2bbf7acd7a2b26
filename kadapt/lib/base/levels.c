// SPDX-License-Identifier: MIT
#include "base/levels.h"

_Atomic uint32_t kadapt_levels = KADAPT_LEVELS_PLANNED;
_Atomic uint64_t kadapt_batches_written;
_Atomic uint64_t kadapt_sites_allocated;
