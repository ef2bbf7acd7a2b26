// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Makes the guest look like any Linux system: its own /proc, /sys and /dev over the host's
 * files, the loopback interface, the host's name, a seeded random number generator.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/random.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init.h"

/* Writes a line to the kernel log, which the relay reads. */
void system_log(const char *format, ...)
{
	char text[512] = "kadence: ";
	size_t used = strlen(text);
	va_list arguments;
	int log;

	va_start(arguments, format);
	vsnprintf(text + used, sizeof(text) - used, format, arguments);
	va_end(arguments);
	log = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	if (log < 0)
		return;
	if (write(log, text, strlen(text)) < 0)
		perror("kadence: /dev/kmsg");
	close(log);
}

/*
 * A machine without ACPI cannot be switched off, but QEMU is told to end instead of restarting the
 * machine. User-Mode Linux would really restart.
 */
noreturn void system_power_off(void)
{
	sync();
	reboot(root_in_machine() ? RB_AUTOBOOT : RB_POWER_OFF);
	_exit(1);
}

static bool mount_one(const char *type, const char *place, unsigned long flags, const char *data)
{
	return !mount(type, place, type, flags, data) || errno == EBUSY;
}

static void mount_or_log(const char *type, const char *place, const char *data)
{
	if (!mount_one(type, place, MS_NOSUID, data))
		system_log("mounting %s on %s: %s", type, place, strerror(errno));
}

/*
 * A command may have data in the host's /dev/shm, so the guest shows it. `host` is that folder,
 * opened before /dev was mounted over it.
 */
static void mount_shared_memory(int host)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", host);
	mkdir("/dev/shm", 01777);
	if (host < 0 || mount(path, "/dev/shm", NULL, MS_BIND, NULL))
		mount_or_log("tmpfs", "/dev/shm", "mode=1777");
	mount(NULL, "/dev/shm", NULL, MS_REMOUNT | MS_BIND | MS_NOSUID | MS_NODEV, NULL);
	close(host);
}

static void link_descriptors(void)
{
	static const char *const links[][2] = {
	    {"/proc/self/fd", "/dev/fd"},
	    {"/proc/self/fd/0", "/dev/stdin"},
	    {"/proc/self/fd/1", "/dev/stdout"},
	    {"/proc/self/fd/2", "/dev/stderr"},
	};

	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i][0], links[i][1]) && errno != EEXIST)
			system_log("%s: %s", links[i][1], strerror(errno));
}

void system_mount(void)
{
	int shared_memory;

	umask(0);
	/* The kernel may have mounted a /dev already; the host's is below it. */
	umount2("/dev", MNT_DETACH);
	shared_memory = open("/dev/shm", O_PATH | O_DIRECTORY | O_CLOEXEC);
	mount_or_log("devtmpfs", "/dev", "mode=755");
	mount_or_log("proc", "/proc", NULL);
	mount_or_log("sysfs", "/sys", NULL);
	mkdir("/dev/pts", 0755);
	mount_or_log("devpts", "/dev/pts", "mode=620,ptmxmode=666");
	mount_shared_memory(shared_memory);
	link_descriptors();
}

/* A kernel without networking has no loopback interface, and needs none. */
static void raise_loopback(void)
{
	struct ifreq interface = {.ifr_name = "lo"};
	int descriptor = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (descriptor < 0)
		return;
	interface.ifr_flags = IFF_UP | IFF_RUNNING;
	if (ioctl(descriptor, SIOCSIFFLAGS, &interface))
		system_log("raising lo: %s", strerror(errno));
	close(descriptor);
}

/* Otherwise a program that reads random numbers waits until the guest has gathered entropy. */
static void seed_random(const uint8_t *seed)
{
	struct {
		struct rand_pool_info header;
		uint8_t bytes[CHANNEL_SEED];
	} pool = {.header = {.entropy_count = 8 * CHANNEL_SEED, .buf_size = CHANNEL_SEED}};
	int descriptor = open("/dev/urandom", O_WRONLY | O_CLOEXEC);

	memcpy(pool.bytes, seed, CHANNEL_SEED);
	if (descriptor < 0 || ioctl(descriptor, RNDADDENTROPY, &pool))
		system_log("seeding /dev/urandom: %s", strerror(errno));
	if (descriptor >= 0)
		close(descriptor);
}

void system_prepare(const struct channel_request *request)
{
	raise_loopback();
	seed_random(request->seed);
	if (sethostname(request->hostname, strlen(request->hostname)))
		system_log("setting the host name: %s", strerror(errno));
	/* The guest belongs to the caller, so the caller may use the device. */
	if (chmod("/dev/kadapt", 0666) && errno != ENOENT)
		system_log("/dev/kadapt: %s", strerror(errno));
}
