// SPDX-License-Identifier: GPL-2.0-or-later
/* Reads the command-line options, and the plugin's line in plugstack.conf. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

#define DEFAULT_SECONDS 30

enum option_number {
	OPTION_BUNDLE,
	OPTION_TARGET,
	OPTION_FALLBACK,
	OPTION_BROADCAST,
};

struct kadence_options kadence_options = {.fallback = "run"};
struct kadence_settings kadence_settings = {
    .site = "/etc/kadence/site.toml",
    .seconds = DEFAULT_SECONDS,
    .check = true,
};

static bool is_one_of(const char *text, const char *const choices[])
{
	for (; *choices; choices++)
		if (strcmp(text, *choices) == 0)
			return true;
	return false;
}

/* Values come from users, on nodes too, so every call checks them. */
static int take_bundle(int value, const char *argument, int remote)
{
	(void)value;
	(void)remote;
	if (!argument || !*argument) {
		slurm_error("kadence: --kadence needs the path of a bundle");
		return -1;
	}
	kadence_options.bundle = strdup(argument);
	return 0;
}

static int take_target(int value, const char *argument, int remote)
{
	static const char *const targets[] = {"um", "module", "kexec", "none", NULL};

	(void)value;
	(void)remote;
	if (!argument || !is_one_of(argument, targets)) {
		slurm_error("kadence: --kadence-target is um, module, kexec or none");
		return -1;
	}
	kadence_options.target = strdup(argument);
	return 0;
}

static int take_fallback(int value, const char *argument, int remote)
{
	static const char *const fallbacks[] = {"fail", "run", NULL};

	(void)value;
	(void)remote;
	if (!argument || !is_one_of(argument, fallbacks)) {
		slurm_error("kadence: --kadence-fallback is fail or run");
		return -1;
	}
	kadence_options.fallback = strdup(argument);
	return 0;
}

static int take_broadcast(int value, const char *argument, int remote)
{
	(void)value;
	(void)argument;
	(void)remote;
	kadence_options.broadcast = true;
	return 0;
}

static struct spank_option options[] = {
    {"kadence", "bundle", "run the job's steps on the kernel of this bundle", 1, OPTION_BUNDLE,
     take_bundle},
    {"kadence-target", "target",
     "um, module, kexec or none (default: the one that was measured fastest)", 1, OPTION_TARGET,
     take_target},
    {"kadence-fallback", "fail|run",
     "what the job does if its bundle or kernel fails: fail, or run unadapted (default)", 1,
     OPTION_FALLBACK, take_fallback},
    {"kadence-broadcast", NULL, "srun copies the bundle to the nodes first", 0, OPTION_BROADCAST,
     take_broadcast},
};

int kadence_register_options(spank_t spank)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (spank_option_register(spank, &options[i]) != ESPANK_SUCCESS)
			slurm_error("kadence: option --%s could not be registered",
				    options[i].name);
	return 0;
}

/* Returns the text after NAME=, or NULL. */
static const char *value_of(const char *argument, const char *name)
{
	size_t length = strlen(name);

	if (strncmp(argument, name, length) != 0 || argument[length] != '=')
		return NULL;
	return argument + length + 1;
}

/* The number that the whole text is, from 1 on; 0 for any other text. */
static int number_of(const char *text)
{
	char *end;
	long number = strtol(text, &end, 10);

	return *end || number < 1 || number > INT_MAX ? 0 : (int)number;
}

void kadence_read_settings(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		const char *value;

		if ((value = value_of(argv[i], "site")))
			kadence_settings.site = strdup(value);
		else if ((value = value_of(argv[i], "seconds")) && number_of(value))
			kadence_settings.seconds = number_of(value);
		else if ((value = value_of(argv[i], "check")))
			kadence_settings.check = strcmp(value, "no") != 0;
		else if ((value = value_of(argv[i], "comment")))
			kadence_settings.comment = strcmp(value, "yes") == 0;
		else
			slurm_error("kadence: plugstack.conf has %s; it takes site=FILE, "
				    "seconds=N, check=no and comment=yes",
				    argv[i]);
	}
}
