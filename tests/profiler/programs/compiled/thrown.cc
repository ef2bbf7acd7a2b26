// SPDX-License-Identifier: GPL-2.0-or-later
// Exceptions, destructors, virtual calls and templates.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

int alive;

struct guard {
	guard()
	{
		alive++;
	}
	~guard()
	{
		alive--;
	}
};

struct shape {
	virtual ~shape() = default;
	virtual int area() const = 0;
};

struct square : shape {
	explicit square(int side) : length(side)
	{
	}
	int area() const override
	{
		return length * length;
	}
	int length;
};

struct strip : square {
	using square::square;
	int area() const override
	{
		return length > 4 ? length : square::area();
	}
};

int throw_now_and_then(int value)
{
	guard kept;

	if (value % 3 == 0)
		throw std::runtime_error("three");
	if (value % 5 == 0)
		throw value;
	return value;
}

int catch_all(int count)
{
	int sum = 0;

	for (int value = 0; value < count; value++) {
		try {
			guard outer;
			sum += throw_now_and_then(value);
		} catch (const std::runtime_error &error) {
			sum += static_cast<int>(std::string(error.what()).size());
		} catch (int number) {
			sum -= number;
		}
	}
	return sum;
}

} // namespace

int main()
{
	std::vector<std::unique_ptr<shape>> shapes;
	std::map<std::string, int> names;
	int area = 0;

	for (int side = 0; side < 20; side++) {
		if (side % 2)
			shapes.push_back(std::make_unique<square>(side));
		else
			shapes.push_back(std::make_unique<strip>(side));
		names[std::to_string(side * 37 % 11)] += side;
	}
	std::sort(shapes.begin(), shapes.end(),
		  [](const auto &one, const auto &other) { return one->area() < other->area(); });
	for (const auto &item : shapes)
		area = area * 3 % 1000 + item->area();
	std::printf("%d %d %d %zu\n", area, catch_all(50), alive, names.size());
	return 0;
}
