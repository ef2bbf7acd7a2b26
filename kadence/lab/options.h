/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The options of a plugin, as QEMU passes them: NAME=VALUE. */
#ifndef KADENCE_LAB_OPTIONS_H
#define KADENCE_LAB_OPTIONS_H

#include <string.h>

/* The option's value, or NULL. */
static inline const char *option(int count, char **options, const char *name)
{
	size_t length = strlen(name);

	for (int i = 0; i < count; i++)
		if (!strncmp(options[i], name, length) && options[i][length] == '=')
			return options[i] + length + 1;
	return NULL;
}

#endif
