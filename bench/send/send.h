/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SEND_H
#define SEND_H

#include <stddef.h>

/* Divides into pieces of every size that is measured. */
#define BUFFER_BYTES (1 << 20)

/* All of the buffer, in pieces of this size; ends the program where one is not sent whole. */
void send_pieces(int socket, const char *buffer, size_t size);

void die(const char *what);

#endif
