/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A container whose memory comes from operator new, called in a function of the library's header.
 */

#include <vector>

int main()
{
	const int pages = 512;
	std::vector<char> bytes(pages * 4096, 'x');

	return bytes[4096] == 'x' ? 0 : 1;
}
