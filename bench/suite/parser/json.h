// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON texts as trees. */
#ifndef JSON_H
#define JSON_H

#include <cstdint>
#include <memory>
#include <string>

namespace json
{

/* The contents of a tree. */
struct Counts {
	std::int64_t objects = 0, arrays = 0, strings = 0, numbers = 0, literals = 0;
	std::int64_t characters = 0; /* in strings and keys, a byte or an escape each */
	std::int64_t deepest = 0;    /* the most objects and arrays nested in one another */
	std::int64_t total = 0;	     /* of the whole numbers */
	double largest = 0;	     /* of all numbers that are not negative */

	bool operator==(const Counts &other) const;
};

class Value
{
      public:
	virtual ~Value() = default;
	/* Adds itself and its contents. `depth`: the number of objects and arrays around it. */
	virtual void add_to(Counts &counts, std::int64_t depth) const = 0;

	Counts counts() const;
};

using Pointer = std::unique_ptr<Value>;

/* Throws std::runtime_error, which names the line, if the text is not JSON. */
Pointer parse(const std::string &text);

} // namespace json

#endif
