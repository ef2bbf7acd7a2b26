// SPDX-License-Identifier: GPL-2.0-or-later
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

volatile int sink;

struct shape {
	shape() // shape
	{
		sink = sink + 1;
	}
	virtual ~shape() = default;
	virtual int area(int x) const = 0;
};

struct square : shape {
	int area(int x) const override // area
	{
		return x * x;
	}
};

template <typename number> number sum_of(const std::vector<number> &list) // sum_of
{
	number sum = 0;
	for (number item : list) // sum_of 1
		sum += item;
	return sum;
}

static int careful(int x) // careful
{
	if (x % 3 == 0)
		throw std::runtime_error("by three");
	return x;
}

struct guard {
	~guard() // guard
	{
		sink = sink + 1;
	}
};

static int attempts(int count) // attempts
{
	int failures = 0;
	for (int i = 0; i < count; i++) { // attempts 1
		guard held;
		try {
			sink = careful(i);
		} catch (const std::exception &) {
			failures++;
			for (int j = 0; j < 2; j++) // attempts 2
				sink = sink + j;
		}
	}
	return failures;
}

int main() // main
{
	auto twice = [](int x) { return sink + x * 2; }; // twice
	std::unique_ptr<shape> one = std::make_unique<square>();
	int total = 0;
	for (int i = 0; i < 4; i++) // main 1
		total += one->area(i) + twice(i);
	total += sum_of(std::vector<int>{1, 2, 3}) + (int)sum_of(std::vector<double>{1.5, 2.5});
	total += attempts(10);
	std::printf("%d\n", total > 0);
	return 0;
}
