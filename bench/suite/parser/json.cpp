// SPDX-License-Identifier: GPL-2.0-or-later
#include "json.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <utility>
#include <vector>

namespace json
{
namespace
{

constexpr int most_nested = 1000; /* levels, so that no text overflows the stack */
constexpr int hexadecimal_digits = 4;

class Literal : public Value
{
	void add_to(Counts &counts, std::int64_t) const override
	{
		counts.literals++;
	}
};

class Number : public Value
{
      public:
	explicit Number(const std::string &text) : whole_(text.find_first_of(".eE") == text.npos)
	{
		if (whole_)
			integer_ = std::strtoll(text.c_str(), nullptr, 10);
		else
			real_ = std::strtod(text.c_str(), nullptr);
	}

	void add_to(Counts &counts, std::int64_t) const override
	{
		counts.numbers++;
		counts.total += integer_;
		counts.largest =
		    std::max(counts.largest, whole_ ? static_cast<double>(integer_) : real_);
	}

      private:
	bool whole_;
	std::int64_t integer_ = 0;
	double real_ = 0;
};

class String : public Value
{
      public:
	explicit String(std::string text) : text_(std::move(text))
	{
	}

	void add_to(Counts &counts, std::int64_t) const override
	{
		counts.strings++;
		counts.characters += static_cast<std::int64_t>(text_.size());
	}

      private:
	std::string text_;
};

class Array : public Value
{
      public:
	std::vector<Pointer> elements;

	void add_to(Counts &counts, std::int64_t depth) const override
	{
		counts.arrays++;
		counts.deepest = std::max(counts.deepest, depth + 1);
		for (const Pointer &element : elements)
			element->add_to(counts, depth + 1);
	}
};

class Object : public Value
{
      public:
	std::map<std::string, Pointer> members;

	void add_to(Counts &counts, std::int64_t depth) const override
	{
		counts.objects++;
		counts.deepest = std::max(counts.deepest, depth + 1);
		for (const auto &[key, value] : members) {
			counts.characters += static_cast<std::int64_t>(key.size());
			value->add_to(counts, depth + 1);
		}
	}
};

bool is_digit(char character)
{
	return character >= '0' && character <= '9';
}

/* A recursive-descent parser, with a function for each rule of the grammar. */
class Parser
{
      public:
	explicit Parser(const std::string &text) : next_(text.data()), end_(next_ + text.size())
	{
	}

	Pointer whole()
	{
		Pointer found = value(0);

		skip_blanks();
		if (next_ != end_)
			fail("something follows the value");
		return found;
	}

      private:
	[[noreturn]] void fail(const char *what) const
	{
		throw std::runtime_error("line " + std::to_string(line_) + ": " + what);
	}

	char peek() const
	{
		return next_ == end_ ? '\0' : *next_;
	}

	void skip_blanks()
	{
		for (; next_ != end_; next_++) {
			if (*next_ == '\n')
				line_++;
			else if (*next_ != ' ' && *next_ != '\t' && *next_ != '\r')
				return;
		}
	}

	bool take(char wanted)
	{
		skip_blanks();
		if (peek() != wanted)
			return false;
		next_++;
		return true;
	}

	Pointer value(int depth)
	{
		skip_blanks();
		switch (peek()) {
		case '{':
			return object(depth + 1);
		case '[':
			return array(depth + 1);
		case '"':
			return std::make_unique<String>(string());
		case 't':
			return literal("true");
		case 'f':
			return literal("false");
		case 'n':
			return literal("null");
		default:
			return number();
		}
	}

	Pointer literal(const char *word)
	{
		std::size_t length = std::strlen(word);

		if (static_cast<std::size_t>(end_ - next_) < length ||
		    std::memcmp(next_, word, length) != 0)
			fail("a value is expected");
		next_ += length;
		return std::make_unique<Literal>();
	}

	void digits()
	{
		if (!is_digit(peek()))
			fail("a value is expected");
		while (is_digit(peek()))
			next_++;
	}

	Pointer number()
	{
		const char *first = next_;

		if (peek() == '-')
			next_++;
		if (peek() == '0')
			next_++;
		else
			digits();
		if (peek() == '.') {
			next_++;
			digits();
		}
		if (peek() == 'e' || peek() == 'E') {
			next_++;
			if (peek() == '+' || peek() == '-')
				next_++;
			digits();
		}
		return std::make_unique<Number>(std::string(first, next_));
	}

	std::string string()
	{
		std::string found;

		next_++;
		for (;;) {
			if (next_ == end_ || static_cast<unsigned char>(*next_) < ' ')
				fail("a string has no end");
			char character = *next_++;
			if (character == '"')
				return found;
			found += character == '\\' ? escaped() : character;
		}
	}

	/* Parses an escape; a character of more than a byte becomes a question mark. */
	char escaped()
	{
		static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
		char name = peek();

		if (name == 'u') {
			next_++;
			for (int i = 0; i < hexadecimal_digits; i++, next_++)
				if (!std::isxdigit(static_cast<unsigned char>(peek())))
					fail("an escape lacks its digits");
			return '?';
		}
		const char *place = name ? std::strchr(names, name) : nullptr;
		if (!place)
			fail("an unknown escape");
		next_++;
		return meanings[place - names];
	}

	void enter(int depth)
	{
		next_++;
		if (depth > most_nested)
			fail("values are nested too deeply");
	}

	Pointer array(int depth)
	{
		auto found = std::make_unique<Array>();

		enter(depth);
		if (take(']'))
			return found;
		do
			found->elements.push_back(value(depth));
		while (take(','));
		if (!take(']'))
			fail("an array has no end");
		return found;
	}

	Pointer object(int depth)
	{
		auto found = std::make_unique<Object>();

		enter(depth);
		if (take('}'))
			return found;
		do {
			skip_blanks();
			if (peek() != '"')
				fail("a key is expected");
			std::string key = string();
			if (!take(':'))
				fail("a colon is expected");
			found->members[key] = value(depth);
		} while (take(','));
		if (!take('}'))
			fail("an object has no end");
		return found;
	}

	const char *next_;
	const char *end_;
	long line_ = 1;
};

} // namespace

bool Counts::operator==(const Counts &other) const
{
	return std::memcmp(this, &other, sizeof(*this)) == 0;
}

Counts Value::counts() const
{
	Counts counts;

	add_to(counts, 0);
	return counts;
}

Pointer parse(const std::string &text)
{
	return Parser(text).whole();
}

} // namespace json
