// SPDX-License-Identifier: GPL-2.0-or-later
/* ed25519 signatures and trusted public keys. */
#ifndef KADENCE_NODE_KEY_RING_H
#define KADENCE_NODE_KEY_RING_H

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace kadence
{

struct public_key {
	std::string name;		     /* of its file, without .pub */
	std::string id;			     /* 16 hex digits */
	std::array<unsigned char, 32> bytes; /* RFC 8032 */
};

/* Reads one PEM file ("BEGIN PUBLIC KEY"). */
public_key read_public_key(const std::filesystem::path &file);

/* Reads every *.pub of a folder; a missing folder is an empty ring. */
std::vector<public_key> read_key_ring(const std::filesystem::path &folder);

/*
 * Verifies that `line` ("ed25519 ID BASE64") is a signature of `text` by a key of the ring, or
 * refuses it. Returns the key's name. `what` names the signed thing in the refusal.
 */
std::string verify(const std::vector<public_key> &ring, const std::string &text,
		   const std::string &line, const std::string &what);

} // namespace kadence

#endif
