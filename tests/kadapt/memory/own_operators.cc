/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linked with containers.cc: operators new mark each block, operators delete check the mark. */
#include <cstddef>
#include <cstdlib>
#include <new>

namespace
{

const std::size_t head = 128;
const std::size_t mark = 0x5eed;

void *take(std::size_t size)
{
	void *block = std::aligned_alloc(head, (size + 2 * head - 1) / head * head);

	if (!block)
		return nullptr;
	*static_cast<std::size_t *>(block) = mark;
	return static_cast<char *>(block) + head;
}

void give(void *block)
{
	if (!block)
		return;
	block = static_cast<char *>(block) - head;
	if (*static_cast<std::size_t *>(block) != mark)
		std::abort();
	std::free(block);
}

} // namespace

void *operator new(std::size_t size)
{
	void *block = take(size);

	if (!block)
		throw std::bad_alloc();
	return block;
}

void *operator new(std::size_t size, std::align_val_t)
{
	return operator new(size);
}

void operator delete(void *block) noexcept
{
	give(block);
}

void operator delete(void *block, std::size_t) noexcept
{
	give(block);
}

void operator delete(void *block, std::align_val_t) noexcept
{
	give(block);
}

void operator delete(void *block, std::size_t, std::align_val_t) noexcept
{
	give(block);
}
