// SPDX-License-Identifier: GPL-2.0-or-later
/* records FILE: writes records through iostreams; in between seeks, reads and flushes. */
#include <fstream>
#include <iomanip>
#include <iostream>
#include <sstream>

int main(int count, char **arguments)
{
	if (count != 2)
		return 2;
	std::fstream file(arguments[1],
			  std::ios::in | std::ios::out | std::ios::trunc | std::ios::binary);
	std::ofstream copy(std::string(arguments[1]) + ".copy", std::ios::binary);

	for (int i = 0; i < 20000; i++) {
		file << "record " << std::setw(6) << i << '\n';
		copy << std::setprecision(9) << i / 7.0 << std::endl;
		if (i % 5000 == 4999)
			std::cout << i << ' ' << file.tellp() << ' ' << copy.tellp() << '\n';
	}
	file.seekp(70);
	file << "RECORD";
	file.seekg(0);
	std::string line;
	for (int i = 0; i < 8 && std::getline(file, line); i++)
		std::cout << line << '\n';
	return file.good() && copy.good() ? 0 : 1;
}
