/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The peers of sockets. Each address gets a number and is written to the stream once. */

#include "pub_tool_libcbase.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_mallocfree.h"
#include "kbbv.h"

enum { UNIX = 1, INTERNET = 2, INTERNET_6 = 10, LONGEST = 160, AF_BYTES = 2, PATH_BYTES = 108 };

struct peer {
	UInt length;
	UChar *address;
};

static struct peer *peers;
static UInt peers_used, peers_capacity;

static UInt port_of(const UChar *address)
{
	return (UInt)address[2] << 8 | address[3];
}

static void write_internet_6(const UChar *address, HChar *text)
{
	Int length = (Int)VG_(sprintf)(text, "[");

	for (UInt i = 0; i < 8; i++)
		length += (Int)VG_(sprintf)(text + length, "%s%x", i ? ":" : "",
					    (UInt)address[8 + 2 * i] << 8 | address[9 + 2 * i]);
	VG_(sprintf)(text + length, "]:%u", port_of(address));
}

/* Writes the NUL that begins an abstract name as @. Some sockets have no name. */
static void write_unix(const UChar *address, UInt length, HChar *text)
{
	UInt size = length > AF_BYTES ? length - AF_BYTES : 0;

	if (size > PATH_BYTES)
		size = PATH_BYTES;
	VG_(memcpy)(text, address + AF_BYTES, size);
	text[size] = '\0';
	if (size > 0 && text[0] == '\0')
		text[0] = '@';
}

static UInt family_of(const UChar *address)
{
	return (UInt)address[0] | (UInt)address[1] << 8;
}

static void write_internet(const UChar *address, HChar *text)
{
	const UChar *host = address + 4;

	VG_(sprintf)(text, "%u.%u.%u.%u:%u", host[0], host[1], host[2], host[3], port_of(address));
}

static void write_text(const UChar *address, UInt length, HChar *text)
{
	UInt family = family_of(address);

	text[0] = '\0';
	if (family == UNIX)
		write_unix(address, length, text);
	else if (family == INTERNET && length >= 8)
		write_internet(address, text);
	else if (family == INTERNET_6 && length >= 24)
		write_internet_6(address, text);
}

static void tell(UInt id, const struct peer *peer)
{
	HChar text[LONGEST];

	write_text(peer->address, peer->length, text);
	stream_begin(FRAME_PEER);
	stream_number(id);
	stream_number(family_of(peer->address));
	stream_text(text);
	stream_finish();
}

static UInt add(const UChar *address, UInt length)
{
	struct peer *peer;

	if (peers_used == peers_capacity) {
		peers_capacity = 2 * peers_capacity + 16;
		peers = VG_(realloc)("kbbv.peers", peers, peers_capacity * sizeof(*peers));
	}
	peer = &peers[peers_used++];
	peer->length = length;
	peer->address = VG_(malloc)("kbbv.peer", length);
	VG_(memcpy)(peer->address, address, length);
	tell(peers_used, peer);
	return peers_used;
}

UInt peers_of_address(const UChar *address, UInt length)
{
	if (length < AF_BYTES)
		return NO_PEER;
	for (UInt i = 0; i < peers_used; i++) {
		if (peers[i].length == length &&
		    VG_(memcmp)(peers[i].address, address, length) == 0)
			return i + 1;
	}
	return add(address, length);
}
