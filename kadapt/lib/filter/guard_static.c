// SPDX-License-Identifier: MIT
/* A static program has nothing to interpose, so it asks for no slices. */
#include "libkadapt.h"

const int kadapt_filter_anchor = 1;
