/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kbbv: a Valgrind tool that records, for every interval of a thread's instructions, how often
 * each basic block ran (the basic-block vector) and which system calls the thread made. It also
 * records the sites of memory, and which pages were touched for the first time.
 *
 * Use
 *
 *   valgrind --tool=kbbv --trace-children=yes --raw=FILE [--interval=N] [--most-rows=M] PROGRAM...
 *
 *   VALGRIND_LIB must name the directory that holds the tool. `kadence profile` sets it, and packs
 *   FILE when the run is over. The head of stream.c describes the format of FILE. FILE is a valid
 *   profile at any moment, so no crash loses more than the last interval.
 *
 * How it counts
 *
 *   Counters are inlined in the translated code (instrument.c, translate.c): an increment in
 *   memory for the block, and a load, subtraction and store for the instructions left in the
 *   interval. Translated code calls a helper only when the interval has ended. kbbv tells VEX
 *   neither to follow jumps into other blocks nor to unroll loops. A block therefore has one
 *   entry, lies in one function, and every passage through it is counted. Blocks end at jumps,
 *   calls, system calls, and after 60 instructions.
 *
 *   Instructions are counted as exp-bbv and the processor's own counter do: a string
 *   instruction with a repeat prefix is one instruction, however often it repeats. exp-bbv
 *   attributes it to the block that follows. kbbv attributes it to the block that it ends; if the
 *   instruction repeats, that block begins at the instruction itself.
 *
 *   A row ends before the block that would carry its thread past a multiple of the interval,
 *   counting the block's instructions up to its first side exit. If a block carried its thread
 *   past the multiple after that exit, the row ends before the next block.
 *
 *   With --most-rows, the interval doubles whenever a thread would have more rows than that. The
 *   reader of the profile merges the rows between two multiples of the longer interval: they end
 *   where rows of that interval would have ended.
 *
 * How it watches memory
 *
 *   kbbv follows the program's mappings by their system calls (memory.c, mappings.c) and records
 *   the site of each (sites.c). At the end of a row, and before pages go away, it asks the kernel
 *   which pages are present (residency.c): pages that are new were touched in that row. kbbv adds
 *   nothing to the program's loads and stores. If much memory is mapped and untouched, asking at
 *   every row would cost too much; a later row then has the touches.
 *
 * Points of extension
 *
 *   - what is counted at a block:            add_probe() in instrument.c
 *   - which calls move bytes or have a descriptor: rules[] in systemcalls.c
 *   - what is recorded of a system call:     struct calls, calls.c
 *   - what is recorded of the whole run:     facts_note() in facts.c
 *   - what is recorded of a block:           describe() in blocks.c
 *   - which functions allocate:              allocators[] in sites.c
 *   - which blocks count as waiting:         waits_of() in waits.c
 *   - which calls change the memory:         memory_after() in memory.c
 *
 * Known inaccuracies
 *
 *   - Where blocks overlap, a fault is attributed to the block that was translated last. A locked
 *     instruction that faults removes one instruction too many from the counts.
 *   - A block that begins with a repeated string instruction (because the instruction is the
 *     block's first, or goes round again) counts as entered when the program leaves it.
 *   - A program that is set-uid, or not for x86_64, runs but is not recorded (exec.c).
 *   - A program that replaces another by exec sees its own path as its first argument, whatever
 *     the caller passed: Valgrind's launcher starts it.
 *   - If another program replaces a child before the child's first row is full, only the child's
 *     number of instructions is known, from that program's profile.
 *   - A child that is killed before its first row is full leaves nothing.
 *   - Descriptors that share an offset are treated as independent. The order of transfers is
 *     therefore wrong if a program writes through both. sendfile and splice have no order.
 *   - Code that changes itself is counted right, but its blocks carry the names that were true
 *     of the address when it was first translated.
 *   - Valgrind reads no symbols of an object without a writable segment (a program in assembler
 *     without data): its blocks have no names.
 *   - Valgrind lets the heap of brk grow to 8 MiB; beyond, malloc maps 1 MiB at a time.
 *   - Touches of all threads are recorded with the row that ends first, whichever thread has it.
 *   - A page that is touched and swapped out before kbbv looks is missed. In file mappings, pages
 *     that the kernel maps beside a touched page count as touched.
 *   - Transparent huge pages are off in the profiled process, and prctl(2) says so.
 *   - Threads run one at a time, so Valgrind determines how their calls interleave. The program
 *     sees a processor without AVX-512, as under every Valgrind tool.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_options.h"
#include "kbbv.h"

/* The first member as declared in Valgrind's pub_core_libcprint.h; libcoregrind exports it. */
struct sink {
	Int descriptor;
};
extern struct sink VG_(log_output_sink);

enum { FIRST_THREAD = 1, LAST_STANDARD_STREAM = 2, MOST_INHERITED = 64 };

static const Long default_interval = 1000000;

static Long interval;
static Long most_rows; /* per thread; 0: any number */

static Bool take_option(const HChar *argument)
{
	if (VG_BINT_CLO(argument, "--interval", interval, 1, 1LL << 62))
		return True;
	if (VG_BINT_CLO(argument, "--most-rows", most_rows, 0, 1LL << 31))
		return True;
	return process_option(argument);
}

static void print_usage(void)
{
	VG_(printf)
	("    --raw=FILE       where to write the profile\n"
	 "    --list=FILE      append the names of all profiles to this file, each ended by a NUL\n"
	 "    --interval=N     instructions per row [1000000]\n"
	 "    --most-rows=N    double the interval if a thread has more rows (an even\n"
	 "                     number; 0: never) [0]\n");
}

static void print_debug_usage(void)
{
	VG_(printf)
	("    --parent=N       process that forked this one, if it was recorded [0]\n"
	 "    --program=N      how many programs this process has run, including this one [1]\n"
	 "    --before=N       instructions since the fork that no profile has [0]\n");
}

/*
 * Valgrind copies the descriptor of its log file to a number that no program can reach, but leaves
 * the original open. The program would inherit it, and its own descriptors would get other numbers.
 */
static void close_second_log(void)
{
	struct vg_stat log, other;

	if (VG_(log_output_sink).descriptor <= LAST_STANDARD_STREAM ||
	    VG_(fstat)(VG_(log_output_sink).descriptor, &log) != 0)
		return;
	for (Int i = LAST_STANDARD_STREAM + 1; i < MOST_INHERITED; i++) {
		if (i != VG_(log_output_sink).descriptor && VG_(fstat)(i, &other) == 0 &&
		    other.dev == log.dev && other.ino == log.ino)
			VG_(close)(i);
	}
}

/* Records the touches so far: they are the parent's. */
static void before_fork(ThreadId id)
{
	memory_look(threads_of(id)->serial);
}

static void in_parent(ThreadId id)
{
	facts_forked();
	memory_forked(id);
}

/* A forked child has its own profile, which begins here. */
static void in_child(ThreadId id)
{
	close_second_log();
	process_forked();
	stream_forked();
	threads_forked(id);
	systemcalls_in_child();
	facts_in_child();
	residency_forked();
	memory_in_child(FIRST_THREAD);
}

static void after_options(void)
{
	close_second_log();
	if (!process_initialise()) {
		VG_(fmsg)("kbbv: --raw=FILE is needed\n");
		VG_(exit)(1);
	}
	if (most_rows % 2) {
		VG_(fmsg)("kbbv: --most-rows must be even\n");
		VG_(exit)(1);
	}
	if (!stream_open((ULong)interval)) {
		VG_(fmsg)("kbbv: cannot write %s\n", process_path());
		VG_(exit)(1);
	}
	process_tell_past();
	blocks_initialise();
	threads_initialise((ULong)interval, (ULong)most_rows);
	memory_initialise((ULong)interval);
	exec_initialise();
	VG_(atfork)(before_fork, in_parent, in_child);
}

/* Valgrind passes no status. The program's exit call gives it; after a signal it is unknown. */
static void finish(Int no_status __attribute__((unused)))
{
	ULong status;

	if (!stream_is_open())
		return;
	systemcalls_finish();
	threads_finish_rows();
	facts_write();
	stream_begin(FRAME_END);
	if (systemcalls_exit_status(&status))
		stream_number(status);
	stream_finish();
	stream_publish();
}

static void before_options(void)
{
	VG_(details_name)("kbbv");
	VG_(details_version)(NULL);
	VG_(details_description)("basic-block vectors, system calls and memory by interval");
	VG_(details_copyright_author)("Part of Kadence; GPL-2.0-or-later");
	VG_(details_bug_reports_to)("the makers of Kadence");
	VG_(details_avg_translation_sizeB)(350);
	VG_(basic_tool_funcs)(after_options, kbbv_instrument, finish);
	VG_(needs_command_line_options)(take_option, print_usage, print_debug_usage);
	VG_(needs_syscall_wrapper)(systemcalls_before, systemcalls_after);
	VG_(track_start_client_code)(threads_start_client_code);
	VG_(track_stop_client_code)(threads_stop_client_code);
	VG_(track_pre_deliver_signal)(threads_deliver_signal);
	VG_(track_post_deliver_signal)(threads_return_from_signal);
	VG_(track_pre_thread_ll_create)(threads_created);
	VG_(track_pre_thread_ll_exit)(threads_exit);

	interval = default_interval;
	VG_(clo_vex_control).guest_chase = False;
	VG_(clo_vex_control).iropt_unroll_thresh = 0;
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
