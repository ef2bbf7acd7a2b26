/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A container whose memory comes from operator new, which a function in the library's header calls.
 */

#include <vector>

int main()
{
	const int pages = 512;
	std::vector<char> bytes(pages * 4096, 'x');

	return bytes[4096] == 'x' ? 0 : 1;
}
