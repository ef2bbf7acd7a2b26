/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LOOPBACK_H
#define LOOPBACK_H

/* A TCP connection on the loopback device, the reading end first; 0 or -1. */
int connect_over_tcp(int ends[2]);

#endif
