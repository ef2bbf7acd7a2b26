/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program frees a library's blocks, the library the program's. Argument: the library. */
#define _GNU_SOURCE
#include <dlfcn.h>

#include "blocks_of_many_sizes.h"

#define BYTES ((size_t)3 << 20)

typedef unsigned char *make_function(size_t size);
typedef unsigned char *resize_function(unsigned char *block, size_t size);
typedef void free_function(unsigned char *block);

int main(int count, char **arguments)
{
	void *library = count > 1 ? dlopen(arguments[1], RTLD_NOW) : NULL;
	make_function *make = library ? (make_function *)dlsym(library, "make_in_library") : NULL;
	resize_function *resize = (resize_function *)dlsym(library, "resize_in_library");
	free_function *release = (free_function *)dlsym(library, "free_in_library");

	if (!make)
		return 2;
	for (int round = 0; round < 5; round++) {
		unsigned char *theirs = make(BYTES);
		unsigned char *ours = malloc(BYTES);

		fill(ours, BYTES, 22);
		ours = resize(ours, 2 * BYTES);
		check(ours, BYTES, 22);
		check(theirs, BYTES, 21);
		free(theirs);
		release(ours);
	}
	puts("exchanged");
	return dlclose(library);
}
