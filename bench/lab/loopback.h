/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LOOPBACK_H
#define LOOPBACK_H

#include <netinet/in.h>

/*
 * Returns a socket that listens on the loopback device and fills in its address, or returns a
 * negative errno.
 */
int loopback_listen(struct sockaddr_in *address);

#endif
