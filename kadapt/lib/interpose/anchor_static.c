// SPDX-License-Identifier: MIT
/* A static program has nothing to interpose. */
#include "libkadapt.h"

const int kadapt_io_anchor = 1;
