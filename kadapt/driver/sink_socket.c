// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings bound to connected TCP and UNIX stream sockets.
 *
 * The open file may be shared: what several processes send on one connection
 * has no order but that of their calls, and the program drains before it lets
 * another process make one.
 */
#include <linux/fs.h>
#include <linux/in.h>
#include <linux/net.h>
#include <linux/uio.h>
#include <net/sock.h>
#include <net/tcp_states.h>

#include "compat.h"
#include "path.h"

static bool is_tcp(const struct sock *sk)
{
	return (sk->sk_family == AF_INET || sk->sk_family == AF_INET6) &&
	       sk->sk_protocol == IPPROTO_TCP;
}

static int socket_bind(struct kadapt_path *path)
{
	struct socket *socket = sock_from_file(path->file);
	int state;

	if (!socket || socket->type != SOCK_STREAM ||
	    !(is_tcp(socket->sk) || socket->sk->sk_family == AF_UNIX))
		return -EMEDIUMTYPE;
	/* The worker could not say who the sender is. */
	if (compat_passes_credentials(socket))
		return -EMEDIUMTYPE;
	state = READ_ONCE(socket->sk->sk_state);
	if (state != TCP_ESTABLISHED && state != TCP_CLOSE_WAIT)
		return -ENOTCONN;
	return 0;
}

static ssize_t socket_write(struct kadapt_path *path, struct iov_iter *from)
{
	struct msghdr message = {
		.msg_flags = MSG_DONTWAIT | MSG_NOSIGNAL,
		.msg_iter = *from,
	};

	return sock_sendmsg(sock_from_file(path->file), &message);
}

/* A quarter of what is free is left for what the kernel adds to the bytes. */
static size_t socket_room(struct kadapt_path *path, size_t wanted)
{
	struct sock *sk = sock_from_file(path->file)->sk;
	int used = is_tcp(sk) ? READ_ONCE(sk->sk_wmem_queued) :
				sk_wmem_alloc_get(sk);
	int room = READ_ONCE(sk->sk_sndbuf) - used;

	return room > 0 ? min_t(size_t, wanted, room - room / 4) : 0;
}

/* How long send(2) would wait for room, in jiffies. */
static long socket_patience(struct file *file)
{
	struct socket *socket = sock_from_file(file);

	return socket ? sock_sndtimeo(socket->sk, false) : MAX_SCHEDULE_TIMEOUT;
}

const struct kadapt_sink kadapt_socket_sink = {
	.is_stream = true,
	.bind = socket_bind,
	.write = socket_write,
	.room = socket_room,
	.patience = socket_patience,
};
