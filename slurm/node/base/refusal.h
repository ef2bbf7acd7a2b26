// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef KADENCE_NODE_REFUSAL_H
#define KADENCE_NODE_REFUSAL_H

#include <stdexcept>
#include <string>

namespace kadence
{

/* A refusal: one sentence for the user about what is wrong, where, and what to do. */
class refusal : public std::runtime_error
{
      public:
	using std::runtime_error::runtime_error;
};

/* "WHAT: meaning of errno" */
[[noreturn]] void refuse_errno(const std::string &what);

} // namespace kadence

#endif
