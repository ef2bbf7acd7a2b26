// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/warning.h"

namespace kadence
{

void warn_skipped(location_t place, const std::string &message)
{
	const bool errors = are_warnings_errors();

	make_warnings_errors(false);
	warning_at(place, 0, "%s", message.c_str());
	make_warnings_errors(errors);
}

} // namespace kadence
