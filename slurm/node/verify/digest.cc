// SPDX-License-Identifier: GPL-2.0-or-later
#include "verify/digest.h"

#include "base/refusal.h"

namespace kadence
{

std::string hexadecimal(const unsigned char *bytes, size_t count)
{
	static const char digits[] = "0123456789abcdef";
	std::string text;

	for (size_t i = 0; i < count; i++) {
		text += digits[bytes[i] >> 4];
		text += digits[bytes[i] & 15];
	}
	return text;
}

digest::digest() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free)
{
	if (!context_ || !EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr))
		throw refusal("OpenSSL has no SHA-256 on this machine");
}

void digest::add(std::string_view bytes)
{
	if (!EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()))
		throw refusal("OpenSSL could not compute a SHA-256");
}

std::string digest::finish()
{
	unsigned char value[EVP_MAX_MD_SIZE];
	unsigned length = 0;

	if (!EVP_DigestFinal_ex(context_.get(), value, &length))
		throw refusal("OpenSSL could not compute a SHA-256");
	return hexadecimal(value, length);
}

std::string sha256(std::string_view bytes)
{
	digest sum;

	sum.add(bytes);
	return sum.finish();
}

} // namespace kadence
