// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * parser: reads JSON (RFC 8259) into a tree and summarises it. Its work is branches and allocation.
 *
 * usage: parser [-n values] [-s seed] [-r rounds]
 *        parser FILE
 *
 * Without a file it generates a text of about `values` values, counts them, and parses the text
 * `rounds` times. If the tree's contents differ from the generated values, the status is 1. A text
 * that is not JSON is refused with the line of the error. The total includes only numbers without
 * fraction and exponent. An escape of the form \uXXXX counts as one character.
 */
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <limits>
#include <stdexcept>
#include <string>
#include <unistd.h>

#include "json.h"

namespace
{

struct Settings {
	long values = 60000;
	long seed = 1;
	long rounds = 8;
	std::string file;
};

long number(const char *text, char option, long largest)
{
	char *end;
	errno = 0;
	long value = std::strtol(text, &end, 10);
	if (errno || *end || end == text || value < 1 || value > largest)
		throw std::runtime_error(std::string("-") + option +
					 " takes a whole number from 1 to " +
					 std::to_string(largest) + ", not '" + text + "'");
	return value;
}

Settings settings_from_arguments(int argc, char **argv)
{
	Settings settings;
	int option;

	while ((option = getopt(argc, argv, "n:s:r:")) != -1) {
		if (option == 'n')
			settings.values = number(optarg, 'n', 10000000);
		else if (option == 's')
			settings.seed = number(optarg, 's', 2147483646);
		else if (option == 'r')
			settings.rounds = number(optarg, 'r', 1000000);
		else
			std::exit(EXIT_FAILURE);
	}
	if (optind < argc)
		settings.file = argv[optind];
	return settings;
}

/* Generates a text and counts its values. */
class Author
{
      public:
	Author(long values, long seed) : left_(values), state_(static_cast<std::uint64_t>(seed))
	{
		text_ += '[';
		counts_.arrays++;
		while (left_ > 0) {
			value(2);
			text_ += left_ > 0 ? ",\n" : "\n";
		}
		text_ += "]\n";
		counts_.deepest = deepest_;
	}

	const std::string &text() const
	{
		return text_;
	}

	const json::Counts &counts() const
	{
		return counts_;
	}

      private:
	/* A minimal standard generator (Park and Miller 1988). Returns a number below `limit`. */
	std::uint64_t chance(std::uint64_t limit)
	{
		state_ = state_ * 16807 % 2147483647;
		return state_ % limit;
	}

	/* `depth` is the depth that the value has if it is an array or an object. */
	void value(long depth)
	{
		left_--;
		switch (chance(depth > 12 ? 5 : 8)) {
		case 0:
			text_ += chance(2) ? "true" : "false";
			counts_.literals++;
			break;
		case 1:
			text_ += "null";
			counts_.literals++;
			break;
		case 2:
			string();
			break;
		case 3:
			fraction();
			break;
		case 4:
			whole();
			break;
		case 5:
			array(depth);
			break;
		default:
			object(depth);
		}
	}

	void whole()
	{
		std::int64_t number = static_cast<std::int64_t>(chance(2000001)) - 1000000;

		counts_.total += number;
		append_number(std::to_string(number));
	}

	void fraction()
	{
		std::string number = std::to_string(chance(1000)) + ".";

		number += std::to_string(chance(1000));
		if (chance(2))
			number += "e" + std::to_string(chance(6));
		append_number(number);
	}

	void append_number(const std::string &number)
	{
		text_ += number;
		counts_.numbers++;
		counts_.largest = std::max(counts_.largest, std::stod(number));
	}

	void characters()
	{
		static const char *const special[] = {"\\n", "\\\"", "\\\\", "\\u00e9"};
		std::uint64_t length = chance(12);

		for (std::uint64_t i = 0; i < length; i++) {
			if (chance(10) == 0)
				text_ += special[chance(std::size(special))];
			else
				text_ += static_cast<char>('a' + chance(26));
		}
		counts_.characters += static_cast<std::int64_t>(length);
	}

	void string()
	{
		text_ += '"';
		characters();
		text_ += '"';
		counts_.strings++;
	}

	void array(long depth)
	{
		deepest_ = std::max(deepest_, depth);
		counts_.arrays++;
		text_ += '[';
		for (std::uint64_t i = 0, length = chance(8); i < length; i++) {
			text_ += i ? ", " : "";
			value(depth + 1);
		}
		text_ += ']';
	}

	/* Keys begin with their number, so no key occurs twice. */
	void object(long depth)
	{
		deepest_ = std::max(deepest_, depth);
		counts_.objects++;
		text_ += '{';
		for (std::uint64_t i = 0, length = chance(6); i < length; i++) {
			text_ += i ? ", \"" : "\"";
			text_ += std::to_string(i);
			characters();
			text_ += "\": ";
			counts_.characters++;
			value(depth + 1);
		}
		text_ += '}';
	}

	long left_;
	std::uint64_t state_;
	std::string text_;
	json::Counts counts_;
	std::int64_t deepest_ = 1;
};

std::string content(const std::string &name)
{
	std::ifstream file(name, std::ios::binary);
	std::string text{std::istreambuf_iterator<char>(file), {}};

	if (!file.is_open() || file.bad())
		throw std::runtime_error("cannot read " + name);
	return text;
}

void print(const json::Counts &counts)
{
	std::cout << "objects " << counts.objects << "\narrays " << counts.arrays << "\nstrings "
		  << counts.strings << "\ncharacters " << counts.characters << "\nnumbers "
		  << counts.numbers << "\nliterals " << counts.literals << "\ndeepest "
		  << counts.deepest << "\ntotal " << counts.total << "\nlargest "
		  << std::setprecision(std::numeric_limits<double>::max_digits10) << counts.largest
		  << '\n';
}

void run(const Settings &settings)
{
	if (!settings.file.empty()) {
		print(json::parse(content(settings.file))->counts());
		return;
	}
	const Author author(settings.values, settings.seed);
	for (long round = 0; round < settings.rounds; round++) {
		json::Counts found = json::parse(author.text())->counts();
		if (round == 0)
			print(found);
		if (!(found == author.counts()))
			throw std::runtime_error("parsed values differ from the generated ones");
	}
}

} // namespace

int main(int argc, char **argv)
{
	try {
		run(settings_from_arguments(argc, argv));
	} catch (const std::exception &error) {
		std::cerr << "parser: " << error.what() << '\n';
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
