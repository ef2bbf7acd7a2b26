// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/warning.h"

namespace kadence
{

void warn_skipped(location_t place, const std::string &message)
{
	const bool as_error = global_dc->warning_as_error_requested;

	global_dc->warning_as_error_requested = false;
	warning_at(place, 0, "%s", message.c_str());
	global_dc->warning_as_error_requested = as_error;
}

} // namespace kadence
