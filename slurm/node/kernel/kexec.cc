// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/kexec.h"

#include <fcntl.h>
#include <linux/kexec.h>
#include <sstream>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/refusal.h"
#include "site/site_store.h"

namespace kadence
{

namespace
{

const char mark[] = "kadence.kernel="; /* kadence.slurm.site_build writes it */
const uint64_t largest_command_line = 65536;

/*
 * Puts verified bytes into a file that nobody else can change. The kernel accepts no file that is
 * open for writing, so this returns a descriptor for reading.
 */
descriptor sealed_file(const std::string &bytes, const char *name)
{
	const descriptor writable(memfd_create(name, MFD_CLOEXEC));

	if (writable.get() < 0)
		refuse_errno(std::string("cannot keep ") + name);
	write_all(writable.get(), bytes, name);
	const std::string path = "/proc/self/fd/" + std::to_string(writable.get());
	descriptor readable(open(path.c_str(), O_RDONLY | O_CLOEXEC));
	if (readable.get() < 0)
		refuse_errno(std::string("cannot keep ") + name);
	return readable;
}

std::string first_line(const std::string &text)
{
	return text.substr(0, text.find('\n'));
}

bool is_name(const std::string &id)
{
	return !id.empty() && id.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/* The folder of a kernel whose manifest the site has signed and whose rules allow it. */
site_folder accepted(const site &rules, const std::string &id)
{
	if (!is_name(id))
		throw refusal("'" + id + "' is not a kernel's name");
	site_folder folder(rules, std::filesystem::path("kernels") / id);
	if (!rules.mitigations_off && !folder.says("mitigations"))
		throw refusal("kernel " + id + " has no mitigations, but " + rules.file.string() +
			      " requires them");
	return folder;
}

} // namespace

std::string running_kernel()
{
	std::istringstream words(read_file("/proc/cmdline", largest_command_line));
	std::string word;

	while (words >> word)
		if (word.compare(0, sizeof(mark) - 1, mark) == 0)
			return word.substr(sizeof(mark) - 1);
	return {};
}

void require_kernel(const std::string &id)
{
	if (running_kernel() != id)
		throw refusal(
		    "this node does not run the site's kernel " + id +
		    "; if its administrator has built it, submit with --constraint=kadence_" + id);
}

void load_kernel(const site &rules, const std::string &id)
{
	const site_folder folder = accepted(rules, id);
	const descriptor image = sealed_file(folder.read("bzImage"), "kernel");
	const bool has_ram = folder.has("initrd");
	const descriptor ram =
	    has_ram ? sealed_file(folder.read("initrd"), "initrd") : descriptor();
	const std::string line = first_line(folder.read("cmdline"));

	if (syscall(SYS_kexec_file_load, image.get(), ram.get(), line.size() + 1, line.c_str(),
		    has_ram ? 0UL : static_cast<unsigned long>(KEXEC_FILE_NO_INITRAMFS)))
		refuse_errno("this node's kernel does not load kernel " + id);
}

void verify_kernel(const site &rules, const std::string &id)
{
	const site_folder folder = accepted(rules, id);

	folder.read("bzImage");
	folder.read("cmdline");
	if (folder.has("initrd"))
		folder.read("initrd");
}

} // namespace kadence
