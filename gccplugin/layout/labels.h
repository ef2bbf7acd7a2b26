/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions whose parts may not lie apart. A static table of differences of labels (&&one -
 * &&other) needs both labels in one section, and the compiler does not look for such tables before
 * it splits a function. Tables of addresses, as interpreters have them, need nothing.
 */
#ifndef KADENCE_LABELS_H
#define KADENCE_LABELS_H

#include "base/gcc_compat.h"

namespace kadence
{

/* Whether some variable of the unit is initialised by a difference of the function's labels. */
bool has_subtracted_labels(tree function);

} // namespace kadence

#endif
