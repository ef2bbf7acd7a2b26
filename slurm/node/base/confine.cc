// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/confine.h"

#include <cerrno>
#include <csignal>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/refusal.h"

namespace kadence
{

namespace
{

const uint64_t largest_answer = UINT64_C(32) << 20;
const rlim_t address_space = UINT64_C(2) << 30;
const rlim_t most_descriptors = 64;
const int kill_patience_ms = 500;
const char answer_done = '+';
const char answer_refused = '-';

void limit(__rlimit_resource resource, rlim_t value)
{
	const rlimit both = {value, value};

	if (setrlimit(resource, &both))
		refuse_errno("cannot set a limit");
}

void set_limits(const confinement &limits)
{
	/* A write beyond the limit is an error like a full disk, not a signal. */
	signal(SIGXFSZ, SIG_IGN);
	limit(RLIMIT_FSIZE, limits.largest_file);
	limit(RLIMIT_AS, address_space);
	limit(RLIMIT_NOFILE, most_descriptors);
	limit(RLIMIT_CORE, 0);
}

/* The effective user decides what can be opened; the real one is still root, for chroot(2). */
void act_as(const person &whose)
{
	if (initgroups(whose.name.c_str(), whose.group) || setegid(whose.group) ||
	    seteuid(whose.user))
		refuse_errno("cannot become user " + whose.name);
}

void become(const confinement &limits)
{
	const person &whose = limits.whose;

	if (seteuid(0) || (!limits.root.empty() && (chroot(limits.root.c_str()) || chdir("/"))))
		refuse_errno("cannot confine the unpacking to " + limits.root);
	if (setresgid(whose.group, whose.group, whose.group) ||
	    setresuid(whose.user, whose.user, whose.user) || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		refuse_errno("cannot become user " + whose.name);
}

/* A change of user clears both settings, so they come last. */
void follow_parent(pid_t parent)
{
	/* PR_SET_DUMPABLE: the user's debugger must not change this process's findings. */
	if (prctl(PR_SET_DUMPABLE, 0) || prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		throw refusal("the process that asked for this was killed");
}

std::string answer_of(const confinement &limits, const std::function<std::string()> &work,
		      const std::function<void()> &before, pid_t parent)
{
	try {
		set_limits(limits);
		if (geteuid() == 0) {
			act_as(limits.whose);
			if (before)
				before();
			become(limits);
		} else if (before) {
			before();
		}
		follow_parent(parent);
		return answer_done + work();
	} catch (const std::exception &error) {
		return answer_refused + std::string(error.what());
	}
}

[[noreturn]] void run_child(const confinement &limits, const std::function<std::string()> &work,
			    const std::function<void()> &before, int answer, pid_t parent)
{
	const std::string text = answer_of(limits, work, before, parent);
	try {
		write_all(answer, text, "the answer");
	} catch (const refusal &) {
		_exit(EXIT_FAILURE);
	}
	_exit(EXIT_SUCCESS);
}

int milliseconds_until(int64_t deadline_ns)
{
	const int64_t left = (deadline_ns - monotonic_ns()) / 1000000;

	return left < 0 ? 0 : static_cast<int>(left);
}

/* Returns false if the deadline came first. */
bool read_answer(int source, int64_t deadline_ns, std::string &answer)
{
	char piece[65536];
	pollfd entry = {source, POLLIN, 0};

	for (;;) {
		const int ready = poll(&entry, 1, milliseconds_until(deadline_ns));
		if (ready < 0 && errno == EINTR)
			continue;
		if (ready <= 0 || answer.size() > largest_answer)
			return false;
		const ssize_t got = read(source, piece, sizeof(piece));
		if (got <= 0)
			return got == 0;
		answer.append(piece, static_cast<size_t>(got));
	}
}

void reap(pid_t child, bool done)
{
	const timespec turn = {0, 1000000};

	if (!done)
		kill(child, SIGKILL);
	for (int waited = 0; waitpid(child, nullptr, done ? 0 : WNOHANG) == 0; waited++) {
		if (waited >= kill_patience_ms)
			return;
		nanosleep(&turn, nullptr);
	}
}

} // namespace

person find_person(uid_t user)
{
	const passwd *entry = getpwuid(user);

	if (!entry)
		throw refusal("this node does not know user " + std::to_string(user));
	return {user, entry->pw_gid, entry->pw_name};
}

std::string confine(const confinement &limits, const std::function<std::string()> &work,
		    const std::function<void()> &before)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		refuse_errno("cannot make a pipe");
	descriptor source(ends[0]), sink(ends[1]);
	const pid_t parent = getpid();
	const pid_t child = fork();
	if (child < 0)
		refuse_errno("cannot start a process");
	if (child == 0)
		run_child(limits, work, before, sink.get(), parent);
	sink.close();
	std::string answer;
	const bool in_time = read_answer(source.get(), limits.deadline_ns, answer);
	reap(child, in_time);
	if (!in_time)
		throw refusal("this took longer than the site's prepare_seconds allow");
	if (answer.empty())
		throw refusal("the process that did this work was killed");
	if (answer.front() == answer_refused)
		throw refusal(answer.substr(1));
	return answer.substr(1);
}

} // namespace kadence
