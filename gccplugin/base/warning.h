/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef KADENCE_WARNING_H
#define KADENCE_WARNING_H

#include "base/gcc_compat.h"

#include <string>

namespace kadence
{

/* A warning that stays a warning with -Werror: a stale plan must not break a build. */
void warn_skipped(location_t place, const std::string &message);

} // namespace kadence

#endif
