/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same as flushing.c with a C++ stream, which calls write in a shared library. */
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iomanip>
#include <iostream>

static const std::uint64_t prime = 0x100000001b3;

static void put_record(std::ofstream &file, int cycle, int number)
{
	file << "record " << number << " of cycle " << cycle << std::endl;
}

static std::uint64_t calculate(std::uint64_t state)
{
	for (int step = 0; step < STEPS; step++)
		state = (state ^ state >> 29) * prime;
	return state;
}

int main(int count, char **arguments)
{
	std::ofstream file(count == 2 ? arguments[1] : "");
	std::uint64_t state = 0xcbf29ce484222325;

	for (int cycle = 0; cycle < CYCLES; cycle++) {
		for (int number = 0; number < RECORDS; number++)
			put_record(file, cycle, number);
		state = calculate(state);
	}
	std::cout << std::hex << std::setfill('0') << std::setw(16) << state << "\n";
	return file ? EXIT_SUCCESS : EXIT_FAILURE;
}
