// SPDX-License-Identifier: GPL-2.0-or-later
/* ed25519 signatures and the public keys that are trusted. */
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

/* One PEM file ("BEGIN PUBLIC KEY"). */
public_key read_public_key(const std::filesystem::path &file);

/* Every *.pub of a folder; a missing folder is an empty ring. */
std::vector<public_key> read_key_ring(const std::filesystem::path &folder);

/*
 * Name of the key whose signature of `text` the line holds ("ed25519 ID BASE64"), or a refusal.
 * `what` is what was signed, for the sentence.
 */
std::string verify(const std::vector<public_key> &ring, const std::string &text,
		   const std::string &line, const std::string &what);

} // namespace kadence

#endif
