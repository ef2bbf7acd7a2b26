// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * kadence-step: Slurm executes this in place of a step's command. The process is already the task,
 * with its limits, processors, environment and streams. It prints the job's messages and executes
 * the program that was decided.
 */
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "step/step.h"
#include "base/file.h"
#include "job/job.h"
#include "bundle/manifest.h"
#include "step/program.h"
#include "base/refusal.h"

namespace kadence
{

namespace fs = std::filesystem;

namespace
{

const uint64_t largest_manifest = 1 << 20;
/* Longer arguments are not noted: a job may have thousands of tasks. */
const size_t longest_arguments = 16 << 10;
const char batch[] = "batch";

std::string variable(const char *name)
{
	const char *value = getenv(name);

	return value ? value : "";
}

struct step {
	std::string command; /* as Slurm was given it */
	std::string folder;  /* of the job */
	std::string number;  /* of the step, or batch */
	std::string problem; /* why the node could not be prepared, or empty */
	std::string task;    /* its number in the step */
	job_state state;

	bool is_first() const
	{
		return variable("SLURM_LOCALID") == "0" || number == batch;
	}
};

step read_step()
{
	step result;

	result.command = variable("KADENCE_STEP_COMMAND");
	result.folder = variable("KADENCE_JOB");
	result.number = variable("KADENCE_STEP");
	result.problem = variable("KADENCE_PROBLEM");
	result.task = variable("SLURM_PROCID");
	result.state.target = "none";
	result.state.fallback = variable("KADENCE_STEP_FALLBACK");
	if (result.problem.empty() && !read_state(result.folder, result.state))
		result.problem = "this node has no record of the job";
	if (result.problem.empty())
		result.problem = result.state.refused;
	return result;
}

/* The command gets the environment that it would have without Kadence. */
/* Slurm 24.11 leaves the plugin's options in the environment of tasks; 22.05 does not. */
void forget_options()
{
	static const std::string prefix = "_SLURM_SPANK_OPTION_kadence_";
	std::vector<std::string> names;

	for (char **variable = environ; *variable; variable++) {
		const std::string text = *variable;

		if (text.compare(0, prefix.size(), prefix) == 0)
			names.push_back(text.substr(0, text.find('=')));
	}
	for (const std::string &name : names)
		unsetenv(name.c_str());
}

void forget_variables()
{
	for (const char *name : {"KADENCE_STEP_COMMAND", "KADENCE_JOB", "KADENCE_STEP",
				 "KADENCE_PROBLEM", "KADENCE_STEP_FALLBACK"})
		unsetenv(name);
	forget_options();
}

void say(const step &what, const std::string &sentence)
{
	if (what.is_first())
		std::cerr << "kadence: " << sentence << std::endl;
}

/* Executes a program; if that fails, prints slurmstepd's message and returns its status. */
int execute(const std::string &file, const std::string &name, char *const arguments[])
{
	if (!file.empty())
		execv(file.c_str(), arguments);
	else
		errno = ENOENT;
	const int error = errno;
	std::cerr << "kadence: error: execve(): " << name << ": " << std::strerror(error)
		  << std::endl;
	return error;
}

fs::path key_of(const step &what)
{
	return fs::path(what.state.steps) / (what.number + "." + what.task);
}

/* The tasks of a step on this node share it. */
fs::path trials_of(const step &what)
{
	return fs::path(what.state.steps) / (what.number + ".trials");
}

nlohmann::json noted_arguments(char *const arguments[])
{
	nlohmann::json words = nlohmann::json::array();
	size_t length = 0;

	for (char *const *word = arguments + 1; *word; word++) {
		length += std::strlen(*word) + 1;
		words.push_back(*word);
	}
	return length <= longest_arguments ? words : nlohmann::json();
}

/*
 * Writes a note for the epilog. Nothing depends on the note: if it cannot be written, the program
 * runs all the same.
 */
void note_step(const step &what, bool is_adapted, char *const arguments[])
{
	const nlohmann::json note = {
	    {"command", what.command},
	    {"target", is_adapted ? what.state.target : "none"},
	    {"program", is_adapted ? "adapted" : "plain"},
	    {"arguments", noted_arguments(arguments)},
	};

	if (what.state.steps.empty())
		return;
	try {
		write_atomically(
		    key_of(what).string() + ".json",
		    note.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace), 0600);
	} catch (const refusal &) {
		return;
	}
}

int execute_plain(const step &what, char *arguments[])
{
	if (what.number != batch)
		note_step(what, false, arguments);
	const std::string file = find_command(what.command);

	forget_variables();
	arguments[0] = const_cast<char *>(what.command.c_str());
	return execute(file, what.command, arguments);
}

int execute_refused(const step &what, const std::string &problem, char *arguments[])
{
	if (what.state.fallback == "fail") {
		say(what, problem);
		return EXIT_FAILURE;
	}
	/* In a batch script the steps print the message. */
	if (what.number != batch)
		say(what, problem + "; running unadapted");
	return execute_plain(what, arguments);
}

/* On the node's running kernel, with its device. */
int execute_here(const step &what, const manifest &bundle, const std::string &program,
		 char *arguments[])
{
	const bool is_adapted = program.compare(0, what.state.store.size(), what.state.store) == 0;

	note_step(what, is_adapted, arguments);
	setenv("KADAPT_COUNTERS", (key_of(what).string() + ".counters").c_str(), 1);
	if (is_adapted)
		setenv("KADAPT_TRIALS_RECORD", trials_of(what).c_str(), 1);
	if (is_adapted && !bundle.units.empty())
		setenv("KADAPT_UNITS", units_variable(bundle).c_str(), 1);
	forget_variables();
	arguments[0] = const_cast<char *>(what.command.c_str());
	return execute(program, what.command, arguments);
}

/* In a guest, which kadence.slurm.step starts. */
int execute_in_guest(const std::string &program, char *arguments[])
{
	const fs::path self = fs::read_symlink("/proc/self/exe");
	const std::string python =
	    (self.parent_path().parent_path().parent_path() / ".venv/bin/python").string();
	std::vector<char *> words;
	std::string options[] = {"-I", "-m", "kadence.slurm.step"};

	forget_options();
	setenv("KADENCE_STEP_PROGRAM", program.c_str(), 1);
	words.push_back(const_cast<char *>(python.c_str()));
	for (std::string &option : options)
		words.push_back(option.data());
	for (char **word = arguments + 1; *word; word++)
		words.push_back(*word);
	words.push_back(nullptr);
	return execute(python, python, words.data());
}

int execute_adapted(const step &what, char *arguments[])
{
	const std::string text =
	    read_file(fs::path(what.state.store) / "manifest.json", largest_manifest);
	const manifest bundle = parse_manifest(text);
	const std::string program = choose_program(bundle, what.state.store, what.command);

	if (program.empty())
		return execute_plain(what, arguments);
	if (what.state.target == "um")
		return execute_in_guest(program, arguments);
	return execute_here(what, bundle, program, arguments);
}

} // namespace

int become_step(char *arguments[])
{
	const step what = read_step();

	if (what.command.empty()) {
		std::cerr << "kadence: kadence-step is for Slurm to start; use srun --kadence\n";
		return EXIT_FAILURE;
	}
	if (!what.problem.empty())
		return execute_refused(what, what.problem, arguments);
	if (what.number == batch)
		return execute_plain(what, arguments);
	if (!what.state.notice.empty())
		say(what, what.state.notice);
	if (what.state.target == "none")
		return execute_plain(what, arguments);
	try {
		return execute_adapted(what, arguments);
	} catch (const refusal &problem) {
		return execute_refused(what, problem.what(), arguments);
	}
}

} // namespace kadence
