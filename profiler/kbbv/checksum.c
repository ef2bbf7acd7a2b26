/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CRC-32 as in zlib (polynomial 0xedb88320, reflected; Sarwate 1988), eight bytes at a time
 * (Kounavis and Berry 2005, "slicing by 8").
 */

#include "kbbv.h"

enum { SLICES = 8 };

static const UInt polynomial = 0xedb88320;

static UInt table[SLICES][256];

static UInt of_octet(UInt octet)
{
	for (UInt bit = 0; bit < 8; bit++)
		octet = octet & 1 ? octet >> 1 ^ polynomial : octet >> 1;
	return octet;
}

static void fill_table(void)
{
	for (UInt octet = 0; octet < 256; octet++)
		table[0][octet] = of_octet(octet);
	for (UInt slice = 1; slice < SLICES; slice++) {
		for (UInt octet = 0; octet < 256; octet++) {
			UInt before = table[slice - 1][octet];

			table[slice][octet] = before >> 8 ^ table[0][before & 0xff];
		}
	}
}

static UInt of_eight(ULong octets)
{
	UInt sum = 0;

	for (UInt i = 0; i < SLICES; i++)
		sum ^= table[SLICES - 1 - i][octets >> 8 * i & 0xff];
	return sum;
}

UInt checksum(UInt before, const void *data, SizeT length)
{
	const UChar *octets = data;
	UInt sum = ~before;

	if (table[0][1] == 0)
		fill_table();
	for (; length >= sizeof(ULong); length -= sizeof(ULong), octets += sizeof(ULong))
		sum = of_eight(*(const ULong *)octets ^ sum);
	for (; length > 0; length--, octets++)
		sum = sum >> 8 ^ table[0][(sum ^ *octets) & 0xff];
	return ~sum;
}
