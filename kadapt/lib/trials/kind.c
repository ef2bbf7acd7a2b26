// SPDX-License-Identifier: MIT
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "trials/kind.h"

#ifdef __x86_64__
#include <cpuid.h>

/* The brand string without the spaces around it, as the kernel shows it. */
static void look_at_processor(char name[64])
{
	unsigned int words[13] = {0};
	const char *text = (const char *)words;
	size_t length;

	for (unsigned int i = 0; i < 3; i++)
		if (!__get_cpuid(0x80000002 + i, &words[4 * i], &words[4 * i + 1],
				 &words[4 * i + 2], &words[4 * i + 3]))
			return;
	while (*text == ' ')
		text++;
	length = strlen(text);
	while (length && text[length - 1] == ' ')
		length--;
	memcpy(name, text, length);
}
#else
static void look_at_processor(char name[64])
{
	(void)name;
}
#endif

void kadapt_kind_look(struct kadapt_machine_kind *kind)
{
	struct utsname names;

	*kind = (struct kadapt_machine_kind){0};
	look_at_processor(kind->processor);
	if (uname(&names) == 0)
		snprintf(kind->kernel, sizeof(kind->kernel), "%.63s", names.release);
	kind->memory_bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	kind->processors = sysconf(_SC_NPROCESSORS_ONLN);
}

static uint64_t hash(const char *text)
{
	uint64_t sum = UINT64_C(0xcbf29ce484222325);

	for (; *text; text++)
		sum = (sum ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
	return sum;
}

uint64_t kadapt_kind_hash(const struct kadapt_machine_kind *kind)
{
	const uint64_t gib = UINT64_C(1) << 30;
	unsigned int major = 0, minor = 0;
	char text[192];

	sscanf(kind->kernel, "%u.%u", &major, &minor);
	snprintf(text, sizeof(text), "%s\n%u.%u\n%llu", kind->processor, major, minor,
		 (unsigned long long)((kind->memory_bytes + gib / 2) / gib));
	return hash(text);
}
