/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Uses containers and every form of operator new, and lets operator new fail. */
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace
{

struct alignas(128) wide {
	double values[16];
};

double grow_vectors()
{
	std::vector<double> values;
	std::vector<wide> wides(20000);
	double sum = 0;

	for (int i = 0; i < 700000; i++)
		values.push_back(i);
	values.shrink_to_fit();
	wides.resize(50000);
	wides[40000].values[3] = 4;
	for (const wide &item : wides)
		sum += item.values[3];
	return sum + values[123456];
}

double fill_others()
{
	std::string text(3000000, 'x');
	std::map<int, std::vector<float>> rows;

	for (int i = 0; i < 20; i++)
		rows[i].assign(200000, static_cast<float>(i));
	text += text;
	return rows[7][199999] + static_cast<double>(text.size());
}

double use_operators()
{
	const std::size_t count = 500000;
	double *one = new double[count];
	double *other = new (std::nothrow) double[count]();
	wide *aligned = new wide[count / 100];
	const std::unique_ptr<wide[]> owned(new wide[count / 50]());
	const bool is_aligned = reinterpret_cast<std::uintptr_t>(aligned) % alignof(wide) == 0;

	one[count - 1] = 2;
	other[5] += 3;
	const double sum = one[count - 1] + other[5] + owned[77].values[1];
	delete[] aligned;
	delete[] other;
	delete[] one;
	return is_aligned ? sum : -1;
}

int handled;

void handle()
{
	if (++handled == 3)
		std::set_new_handler(nullptr);
}

void want_too_much()
{
	volatile std::size_t count = std::size_t{1} << 59;

	std::set_new_handler(handle);
	try {
		std::printf("%p\n", static_cast<void *>(new double[count]));
	} catch (const std::bad_alloc &) {
		std::printf("none, after %d tries\n", handled);
	}
	std::printf("%d\n", new (std::nothrow) double[count] == nullptr);
}

} // namespace

/* With an argument, requests no impossible size: sanitizers end a program that does. */
int main(int count, char **)
{
	for (int round = 0; round < 3; round++)
		std::printf("%g %g %g\n", grow_vectors(), fill_others(), use_operators());
	if (count == 1)
		want_too_much();
}
