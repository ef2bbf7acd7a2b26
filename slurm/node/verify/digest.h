// SPDX-License-Identifier: GPL-2.0-or-later
#ifndef KADENCE_NODE_DIGEST_H
#define KADENCE_NODE_DIGEST_H

#include <memory>
#include <openssl/evp.h>
#include <string>
#include <string_view>

namespace kadence
{

/* Returns two lower-case digits for each byte. */
std::string hexadecimal(const unsigned char *bytes, size_t count);

/* SHA-256 of the bytes added, in lower-case hex digits. */
class digest
{
      public:
	digest();
	void add(std::string_view bytes);
	std::string finish();

      private:
	std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

std::string sha256(std::string_view bytes);

} // namespace kadence

#endif
