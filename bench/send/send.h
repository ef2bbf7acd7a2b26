/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SEND_H
#define SEND_H

#include <stddef.h>

/* A multiple of every piece size that is measured. */
#define BUFFER_BYTES (1 << 20)

/* Sends the whole buffer in pieces of this size. Ends the program if a piece is not sent whole. */
void send_pieces(int socket, const char *buffer, size_t size);

void die(const char *what);

#endif
