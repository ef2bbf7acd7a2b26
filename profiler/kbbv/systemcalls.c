/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * System calls. A call counts when it returns; a call that never returns counts when it is made. A
 * call that the kernel restarts after a signal returns once and counts once.
 */

#include "pub_tool_threadstate.h"
#include "pub_tool_vkiscnums.h"
#include "kbbv.h"

static const HChar *const names[] = {
#include "systemcall_names.h"
};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

/* Which argument is a descriptor, and whether the result is the number of bytes transferred. */
struct rule {
	UChar descriptor; /* 1 for the first argument; 0: the call has none */
	Bool transfers;
};

#define ON(argument)                                                                               \
	{                                                                                          \
		(argument), False                                                                  \
	}
#define TRANSFER(argument)                                                                         \
	{                                                                                          \
		(argument), True                                                                   \
	}

static const struct rule rules[NAMES] = {
    [__NR_read] = TRANSFER(1),
    [__NR_write] = TRANSFER(1),
    [__NR_pread64] = TRANSFER(1),
    [__NR_pwrite64] = TRANSFER(1),
    [__NR_readv] = TRANSFER(1),
    [__NR_writev] = TRANSFER(1),
    [__NR_preadv] = TRANSFER(1),
    [__NR_pwritev] = TRANSFER(1),
    [__NR_preadv2] = TRANSFER(1),
    [__NR_pwritev2] = TRANSFER(1),
    [__NR_sendto] = TRANSFER(1),
    [__NR_sendmsg] = TRANSFER(1),
    [__NR_recvfrom] = TRANSFER(1),
    [__NR_recvmsg] = TRANSFER(1),
    [__NR_sendfile] = TRANSFER(1),
    [__NR_splice] = TRANSFER(1),
    [__NR_tee] = TRANSFER(1),
    [__NR_vmsplice] = TRANSFER(1),
    [__NR_copy_file_range] = TRANSFER(1),
    [__NR_getdents64] = ON(1),
    [__NR_sendmmsg] = ON(1),
    [__NR_recvmmsg] = ON(1),
    [__NR_close] = ON(1),
    [__NR_fstat] = ON(1),
    [__NR_fstatfs] = ON(1),
    [__NR_lseek] = ON(1),
    [__NR_mmap] = ON(5),
    [__NR_ioctl] = ON(1),
    [__NR_fcntl] = ON(1),
    [__NR_flock] = ON(1),
    [__NR_fsync] = ON(1),
    [__NR_fdatasync] = ON(1),
    [__NR_ftruncate] = ON(1),
    [__NR_fallocate] = ON(1),
    [__NR_fadvise64] = ON(1),
    [__NR_sync_file_range] = ON(1),
    [__NR_readahead] = ON(1),
    [__NR_fchmod] = ON(1),
    [__NR_fchown] = ON(1),
    [__NR_fchdir] = ON(1),
    [__NR_dup] = ON(1),
    [__NR_dup2] = ON(1),
    [__NR_dup3] = ON(1),
    [__NR_connect] = ON(1),
    [__NR_accept] = ON(1),
    [__NR_accept4] = ON(1),
    [__NR_bind] = ON(1),
    [__NR_listen] = ON(1),
    [__NR_shutdown] = ON(1),
    [__NR_getsockname] = ON(1),
    [__NR_getpeername] = ON(1),
    [__NR_setsockopt] = ON(1),
    [__NR_getsockopt] = ON(1),
    [__NR_epoll_ctl] = ON(1),
    [__NR_epoll_wait] = ON(1),
    [__NR_epoll_pwait] = ON(1),
};

static Bool named[NAMES];
static Bool exits;
static ULong exit_status;

static struct rule rule_of(UInt number)
{
	static const struct rule none;

	return number < NAMES ? rules[number] : none;
}

static Bool is_exec(UInt number)
{
	return number == __NR_execve || number == __NR_execveat;
}

static Bool is_exit(UInt number)
{
	return number == __NR_exit || number == __NR_exit_group;
}

static Bool never_returns(UInt number, const UWord *arguments)
{
	return is_exit(number) || (is_exec(number) && exec_will_succeed(number, arguments));
}

void systemcalls_before(ThreadId id, UInt number, UWord *arguments,
			UInt count __attribute__((unused)))
{
	struct thread *thread = threads_of(id);
	struct rule rule = rule_of(number);
	struct call *call = &thread->call;

	*call = (struct call){.number = number, .site = sites_of_transfer(id)};
	calls_begin(thread, call);
	/* Before the call: the descriptor may be closed when the call returns. */
	if (rule.descriptor)
		call->descriptor = descriptors_kind(arguments[rule.descriptor - 1]);
	memory_before(id, number, arguments);
	if (is_exit(number)) {
		exits = True;
		exit_status = arguments[0] & 0xff;
	}
	if (!never_returns(number, arguments))
		return;
	calls_tally(thread, call);
	call->number = NO_CALL;
	if (is_exec(number))
		exec_prepare(number, arguments);
}

/* Counts the calls that threads are in when the process ends. */
void systemcalls_finish(void)
{
	for (ThreadId id = 0; id < VG_N_THREADS; id++) {
		struct thread *thread = threads_known(id);

		if (!thread || thread->call.number == NO_CALL)
			continue;
		calls_tally(thread, &thread->call);
		thread->call.number = NO_CALL;
	}
}

static ULong messages_bytes(const struct vki_mmsghdr *messages, ULong count)
{
	ULong bytes = 0;

	for (ULong i = 0; i < count; i++)
		bytes += messages[i].msg_len;
	return bytes;
}

static ULong transferred(UInt number, const UWord *arguments, SysRes result)
{
	if (sr_isError(result))
		return 0;
	if (number == __NR_sendmmsg || number == __NR_recvmmsg)
		return messages_bytes((const struct vki_mmsghdr *)arguments[1], sr_Res(result));
	return rule_of(number).transfers ? sr_Res(result) : 0;
}

static Bool transfers(UInt number)
{
	return rule_of(number).transfers || number == __NR_sendmmsg || number == __NR_recvmmsg;
}

/* If a socket is not connected, the call itself may name the peer. */
static UInt peer_of(UInt number, const UWord *arguments)
{
	if (number == __NR_sendto && arguments[4])
		return peers_of_address((const UChar *)arguments[4], (UInt)arguments[5]);
	if (number == __NR_recvfrom && arguments[4] && arguments[5])
		return peers_of_address((const UChar *)arguments[4], *(const UInt *)arguments[5]);
	return descriptors_peer(arguments[0]);
}

static void note_transfer(struct call *call, const UWord *arguments, SysRes result)
{
	call->transfers = True;
	call->bytes = transferred(call->number, arguments, result);
	if (call->descriptor == FILE_DESCRIPTOR)
		call->access = descriptors_moved(call->number, arguments, call->bytes);
	if (call->descriptor == SOCKET)
		call->peer = peer_of(call->number, arguments);
}

void systemcalls_after(ThreadId id, UInt number, UWord *arguments,
		       UInt count __attribute__((unused)), SysRes result)
{
	struct thread *thread = threads_of(id);
	struct call *call = &thread->call;

	if (call->number == NO_CALL)
		return; /* in a child: the return from the parent's fork */
	if (!sr_isError(result) && transfers(number))
		note_transfer(call, arguments, result);
	calls_tally(thread, call);
	call->number = NO_CALL;
	if (sr_isError(result) && number != __NR_close)
		return; /* a failed close still closes the descriptor */
	descriptors_after(number, arguments, sr_Res(result));
	facts_note(number, arguments);
	memory_after(id, number, arguments, sr_Res(result));
}

Bool systemcalls_exit_status(ULong *status)
{
	*status = exit_status;
	return exits;
}

void systemcalls_name(UInt number)
{
	if (number >= NAMES || named[number] || !names[number])
		return;
	named[number] = True;
	stream_begin(FRAME_CALL_NAME);
	stream_number(number);
	stream_text(names[number]);
	stream_finish();
}

void systemcalls_in_child(void)
{
	exits = False;
}
