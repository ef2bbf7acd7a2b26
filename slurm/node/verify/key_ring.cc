// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/key_ring.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sstream>

#include "verify/digest.h"
#include "base/file.h"
#include "base/refusal.h"

namespace kadence
{

namespace
{

const size_t key_id_digits = 16;
const size_t signature_bytes = 64;
const uint64_t largest_key_file = 16384;

using key_pointer = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

key_pointer parse_pem(const std::string &text)
{
	const std::unique_ptr<BIO, decltype(&BIO_free)> source(
	    BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free);

	return {PEM_read_bio_PUBKEY(source.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free};
}

/* Returns empty if the text is not base64 of a signature's length. */
std::string decode_signature(const std::string &text)
{
	/* OpenSSL writes whole groups of three bytes, padding included. */
	std::string bytes(text.size() / 4 * 3 + 3, '\0');
	const int length = EVP_DecodeBlock(reinterpret_cast<unsigned char *>(bytes.data()),
					   reinterpret_cast<const unsigned char *>(text.data()),
					   static_cast<int>(text.size()));

	if (length < static_cast<int>(signature_bytes) ||
	    length > static_cast<int>(signature_bytes) + 2)
		return {};
	bytes.resize(signature_bytes);
	return bytes;
}

bool is_valid(const public_key &key, const std::string &text, const std::string &signature)
{
	const key_pointer pointer(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr,
							      key.bytes.data(), key.bytes.size()),
				  &EVP_PKEY_free);
	const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
									      &EVP_MD_CTX_free);

	return pointer && context &&
	       EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, pointer.get()) == 1 &&
	       EVP_DigestVerify(
		   context.get(), reinterpret_cast<const unsigned char *>(signature.data()),
		   signature.size(), reinterpret_cast<const unsigned char *>(text.data()),
		   text.size()) == 1;
}

} // namespace

public_key read_public_key(const std::filesystem::path &file)
{
	const key_pointer key = parse_pem(read_file(file, largest_key_file));
	public_key result;
	size_t length = result.bytes.size();

	if (!key || EVP_PKEY_id(key.get()) != EVP_PKEY_ED25519 ||
	    EVP_PKEY_get_raw_public_key(key.get(), result.bytes.data(), &length) != 1)
		throw refusal(file.string() + " is not a public ed25519 key in PEM form");
	result.name = file.stem().string();
	result.id = sha256({reinterpret_cast<const char *>(result.bytes.data()), length})
			.substr(0, key_id_digits);
	return result;
}

std::vector<public_key> read_key_ring(const std::filesystem::path &folder)
{
	std::vector<public_key> ring;
	std::error_code error;

	for (const auto &entry : std::filesystem::directory_iterator(folder, error))
		if (entry.path().extension() == ".pub")
			ring.push_back(read_public_key(entry.path()));
	return ring;
}

std::string verify(const std::vector<public_key> &ring, const std::string &text,
		   const std::string &line, const std::string &what)
{
	std::istringstream words(line);
	std::string kind, id, encoded;

	words >> kind >> id >> encoded;
	const std::string signature = decode_signature(encoded);
	if (kind != "ed25519" || signature.empty())
		throw refusal("the signature of " + what + " is not an ed25519 signature");
	const auto key = std::find_if(ring.begin(), ring.end(),
				      [&](const public_key &one) { return one.id == id; });
	if (key == ring.end())
		throw refusal(what + " was signed with key " + id +
			      ", which is not in the site's key ring");
	if (!is_valid(*key, text, signature))
		throw refusal("the signature of " + what + " by " + key->name +
			      " is wrong: it was changed after it was signed");
	return key->name;
}

} // namespace kadence
