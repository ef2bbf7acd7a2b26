/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kbbv: a Valgrind tool that records, for every interval of a thread's instructions, how often
 * each basic block ran (the basic-block vector), which system calls were made, where memory
 * came from and which pages of it were touched for the first time.
 *
 * Use
 *
 *   valgrind --tool=kbbv --trace-children=yes --raw=FILE [--interval=N] [--most-rows=M] PROGRAM...
 *
 *   with VALGRIND_LIB naming the directory that holds the tool; `kadence profile` does this and
 *   packs FILE when the run is over. The format of FILE is at the head of stream.c: it is a
 *   profile at any moment, so that no crash of anything loses more than the last interval.
 *
 * How it counts
 *
 *   Counters are inlined in the translated code (instrument.c, translate.c): an increment in
 *   memory for the block, and a load, subtraction and store for the instructions left in the
 *   interval. A helper is called only where the interval has ended. VEX is told neither to follow
 *   jumps into other blocks nor to unroll loops, so that a block has one entry, lies in one
 *   function, and every passage through it is seen. Blocks end at jumps, calls, system calls,
 *   and after 60 instructions.
 *
 *   Instructions are counted as exp-bbv and the processor's own counter do: a string
 *   instruction with a repeat prefix is one, however often it repeats. exp-bbv books it to the
 *   block that follows, kbbv to the block (beginning at the instruction itself where it
 *   repeats) that it ends.
 *
 *   A row ends before the block that would carry its thread past a multiple of the interval, by
 *   the block's instructions up to its first side exit, or whose predecessor did. With
 *   --most-rows the interval becomes twice as long whenever a thread would have more rows than
 *   that, and the rows between two multiples of the longer one are put together when the profile
 *   is read: they end where rows of that interval would have ended.
 *
 * How it watches memory
 *
 *   The client's mappings are followed by their system calls (memory.c, mappings.c), each with
 *   the place in the program that asked for it (sites.c). At the end of a row, and before pages
 *   go, the kernel is asked which pages are present (residency.c): what is new was touched in
 *   that row. Nothing is added to the client's loads and stores. Where much memory is mapped and
 *   untouched, not every row can afford to ask; what it misses is told with a later row.
 *
 * Points of extension
 *
 *   - what is counted at a block:            add_probe() in instrument.c
 *   - which calls move bytes or have a descriptor: rules[] in systemcalls.c
 *   - what is told of a system call:         struct calls, calls.c
 *   - what is told about the whole run:      facts_note() in facts.c
 *   - what is told about a block:            describe() in blocks.c
 *   - which functions allocate:              allocators[] in sites.c
 *   - what tells that a thread waits:        waits_of() in waits.c
 *   - which calls change the memory:         memory_after() in memory.c
 *
 * Known inaccuracies
 *
 *   - Where blocks overlap, a fault is booked to the block that was translated last. A locked
 *     instruction that faults takes one instruction too many with it.
 *   - A block that begins with a repeated string instruction (the first of a block, or where one
 *     goes round again) counts as entered where it is left.
 *   - A program that is set-uid, or not for x86_64, runs and is not recorded (exec.c).
 *   - A program that a process becomes sees the path it was executed by as its first argument,
 *     whatever it was given: Valgrind's launcher stands between.
 *   - Of a child that another program takes the place of before its first row is full, only the
 *     number of instructions is known, from that program's profile.
 *   - A child that is killed before its first row is full leaves nothing.
 *   - Descriptors that share an offset are taken apart, so that orders of transfers are wrong
 *     where a program writes through both. Of sendfile and splice no order is told.
 *   - Code that changes itself is counted right, but its blocks carry the names that were true
 *     of the address when it was first translated.
 *   - Valgrind reads no symbols of an object without a writable segment (a program in assembler
 *     without data): its blocks have no names.
 *   - Valgrind lets the heap of brk grow to 8 MiB; beyond, malloc maps 1 MiB at a time.
 *   - What threads touch is told with the row that ends first, whosever it is.
 *   - A page that is touched and swapped out before anybody looks is not seen. Of file mappings
 *     a page counts that the kernel maps beside the one that was touched.
 *   - Transparent huge pages are off in the profiled process, and prctl(2) says so.
 *   - Threads run one at a time, so how their calls interleave is Valgrind's doing; and a
 *     processor without AVX-512 is seen by the program, as under every Valgrind tool.
 */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_options.h"
#include "kbbv.h"

/* The beginning of what is declared in Valgrind's pub_core_libcprint.h; of libcoregrind. */
struct sink {
	Int descriptor;
};
extern struct sink VG_(log_output_sink);

enum { FIRST_THREAD = 1, LAST_STANDARD_STREAM = 2, MOST_INHERITED = 64 };

static const Long default_interval = 1000000;

static Long interval;
static Long most_rows; /* of a thread; 0: any number */

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
	 "    --most-rows=N    double the interval where a thread has more rows (an even\n"
	 "                     number; 0: never) [0]\n");
}

static void print_debug_usage(void)
{
	VG_(printf)
	("    --parent=N       process that forked this one, where it was recorded [0]\n"
	 "    --program=N      how many programs this process has been, this included [1]\n"
	 "    --before=N       instructions since the fork of which there is no profile [0]\n");
}

/*
 * Valgrind copies the descriptor of its log file to where no program gets to, and leaves the
 * first one open: it would be the program's, and its own would be numbered otherwise.
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

/* What was touched until now was so by the parent. */
static void before_fork(ThreadId id)
{
	memory_look(threads_of(id)->serial);
}

static void in_parent(ThreadId id)
{
	facts_forked();
	memory_forked(id);
}

/* A forked child has a profile of its own, that begins here. */
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

/* Valgrind passes no status: the program's own call tells it, and of a signal nobody does. */
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
