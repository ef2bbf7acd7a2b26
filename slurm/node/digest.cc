// SPDX-License-Identifier: GPL-2.0-or-later
#include "digest.h"

#include "refusal.h"

namespace kadence
{

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
	static const char digits[] = "0123456789abcdef";
	unsigned char value[EVP_MAX_MD_SIZE];
	unsigned length = 0;
	std::string text;

	if (!EVP_DigestFinal_ex(context_.get(), value, &length))
		throw refusal("OpenSSL could not compute a SHA-256");
	for (unsigned i = 0; i < length; i++) {
		text += digits[value[i] >> 4];
		text += digits[value[i] & 15];
	}
	return text;
}

std::string sha256(std::string_view bytes)
{
	digest sum;

	sum.add(bytes);
	return sum.finish();
}

} // namespace kadence
