// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kadence-node: the node's side of bundles. The SPANK plugin calls it in a job's prolog, steps and
 * epilog; `check` is for everybody. Under the name kadence-step it is a step's command (step.cc).
 */
#include <cstdlib>
#include <getopt.h>
#include <iostream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/manifest.h"
#include "commands.h"
#include "finish.h"
#include "health.h"
#include "job/job.h"
#include "job/verdict.h"
#include "kernel/kexec.h"
#include "base/refusal.h"
#include "site/site.h"
#include "step/step.h"
#include "units.h"

namespace
{

using namespace kadence;

const char usage[] = "usage: kadence-node [--site FILE] [--node NAME] COMMAND\n"
		     "  check                               is this node fit for jobs?\n"
		     "  check BUNDLE [--target T]           does this site accept it?\n"
		     "  prepare --job ID --uid UID --bundle FILE [--step S] [--target T]\n"
		     "          [--fallback fail|run] [--exclusive] [--discard] [--say]\n"
		     "  finish --job ID                     gather, restore, remove\n"
		     "  sweep                               the same for what a crash left\n"
		     "  kernel-of BUNDLE                    the name of the kernel that it wants\n"
		     "  site                                the site's rules as JSON\n"
		     "  load-kernel NAME                    load the site's kernel for kexec\n"
		     "  units                               the node's units as JSON\n"
		     "  install-unit NAME, remove-unit NAME the same, after that\n";

enum option_key {
	OPTION_SITE = 1,
	OPTION_NODE,
	OPTION_JOB,
	OPTION_STEP,
	OPTION_UID,
	OPTION_BUNDLE,
	OPTION_TARGET,
	OPTION_FALLBACK,
	OPTION_EXCLUSIVE,
	OPTION_DISCARD,
	OPTION_SAY,
};

const option long_options[] = {
    {"site", required_argument, nullptr, OPTION_SITE},
    {"node", required_argument, nullptr, OPTION_NODE},
    {"job", required_argument, nullptr, OPTION_JOB},
    {"step", required_argument, nullptr, OPTION_STEP},
    {"uid", required_argument, nullptr, OPTION_UID},
    {"bundle", required_argument, nullptr, OPTION_BUNDLE},
    {"target", required_argument, nullptr, OPTION_TARGET},
    {"fallback", required_argument, nullptr, OPTION_FALLBACK},
    {"exclusive", no_argument, nullptr, OPTION_EXCLUSIVE},
    {"discard", no_argument, nullptr, OPTION_DISCARD},
    {"say", no_argument, nullptr, OPTION_SAY},
    {nullptr, 0, nullptr, 0},
};

struct invocation {
	std::string site = "/etc/kadence/site.toml";
	std::string command;
	std::string argument;
	wish what;
	bool say = false;
};

[[noreturn]] void refuse_usage()
{
	throw refusal(std::string("the command line is wrong\n") + usage);
}

/* Numbers become parts of paths, so they must have only digits. */
std::string number(const std::string &text)
{
	if (text.empty() || text.size() > 10 ||
	    text.find_first_not_of("0123456789") != std::string::npos)
		refuse_usage();
	return text;
}

std::string one_of(const std::string &text, std::initializer_list<const char *> choices)
{
	for (const char *choice : choices)
		if (text == choice)
			return text;
	refuse_usage();
}

std::string host_name()
{
	char name[256] = "";

	gethostname(name, sizeof(name) - 1);
	return name;
}

void take_option(invocation &call, int key, const std::string &value)
{
	switch (key) {
	case OPTION_SITE:
		call.site = value;
		return;
	case OPTION_NODE:
		if (value.find('/') != std::string::npos || value.empty())
			refuse_usage();
		call.what.node = value;
		return;
	case OPTION_JOB:
		call.what.job = number(value);
		return;
	case OPTION_STEP:
		call.what.step = number(value);
		return;
	case OPTION_UID:
		call.what.user = static_cast<uid_t>(std::stoul(number(value)));
		return;
	case OPTION_BUNDLE:
		call.what.bundle = value;
		return;
	case OPTION_TARGET:
		call.what.target = one_of(value, {"", "um", "module", "kexec", "none"});
		return;
	case OPTION_FALLBACK:
		call.what.fallback = one_of(value, {"fail", "run"});
		return;
	case OPTION_EXCLUSIVE:
		call.what.exclusive = true;
		return;
	case OPTION_SAY:
		call.say = true;
		return;
	case OPTION_DISCARD:
		call.what.discard = true;
		return;
	default:
		refuse_usage();
	}
}

invocation read_invocation(int argc, char *argv[])
{
	invocation call;
	int key;

	call.what.node = host_name();
	opterr = 0;
	while ((key = getopt_long(argc, argv, "", long_options, nullptr)) != -1)
		take_option(call, key, optarg ? optarg : "");
	if (optind == argc || argc - optind > 2)
		refuse_usage();
	call.command = argv[optind];
	if (argc - optind == 2)
		call.argument = argv[optind + 1];
	return call;
}

void say(const std::string &line)
{
	if (!line.empty())
		std::cout << line << '\n';
}

/* The job's folder, for a step; or the decision, for a log. */
void say_prepared(const std::string &folder, bool decision)
{
	job_state state;

	say(decision && read_state(folder, state) ? decision_of(state) : folder);
}

void run(const invocation &call)
{
	const site rules = read_site(call.site, call.what.node);

	if (call.command == "check" && !call.argument.empty())
		check(rules, call.argument, call.what.target);
	else if (call.command == "prepare" && !call.what.job.empty())
		say_prepared(prepare(rules, call.what), call.say);
	else if (call.command == "finish" && !call.what.job.empty())
		say(finish(rules, call.what.node, call.what.job));
	else if (call.command == "check" && call.argument.empty())
		check_node(rules, std::cout);
	else if (call.command == "sweep")
		sweep(rules, call.what.node);
	else if (call.command == "kernel-of" && !call.argument.empty())
		std::cout << kernel_of(rules, call.argument) << '\n';
	else if (call.command == "site")
		std::cout << describe_site(rules) << '\n';
	else if (call.command == "units" && call.argument.empty())
		std::cout << change_units(rules, call.what.node, unit_action::none, "") << '\n';
	else if (call.command == "install-unit" && is_unit_name(call.argument))
		std::cout << change_units(rules, call.what.node, unit_action::install,
					  call.argument)
			  << '\n';
	else if (call.command == "remove-unit" && is_unit_name(call.argument))
		std::cout << change_units(rules, call.what.node, unit_action::remove, call.argument)
			  << '\n';
	else if (call.command == "load-kernel" && !call.argument.empty())
		load_kernel(rules, call.argument);
	else
		refuse_usage();
}

} // namespace

int main(int argc, char *argv[])
{
	try {
		const std::string self = argc ? argv[0] : "";

		if (self.substr(self.rfind('/') + 1) == "kadence-step")
			return become_step(argv);
		umask(022);
		run(read_invocation(argc, argv));
		return EXIT_SUCCESS;
	} catch (const std::exception &error) {
		std::cerr << "kadence: " << error.what() << '\n';
		return EXIT_FAILURE;
	}
}
