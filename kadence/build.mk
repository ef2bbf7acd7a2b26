# SPDX-License-Identifier: GPL-2.0-or-later
# What the lab runs in a guest before the command. Static, for any guest.
SETTLE := $(BUILD)/kadence/settle
LAB_INIT := $(BUILD)/kadence/lab-init
LAB_GUEST_CFLAGS := $(CFLAGS_STRICT) -D_GNU_SOURCE -static
# QEMU's plugin, which counts calls of a guest's kernel.
LAB_CALLS := $(BUILD)/kadence/lab-calls.so
LAB_CALLS_SOURCES := $(wildcard kadence/lab/plugin/*.c)
# Another one, which counts blocks, and models caches.
LAB_COUNTS := $(BUILD)/kadence/lab-counts.so
LAB_COUNTS_SOURCES := $(wildcard kadence/lab/counting/*.c)
QEMU_MAJOR = $(shell qemu-system-x86_64 --version | sed -nE 's/^QEMU emulator version ([0-9]+).*/\1/p')
# What runs a command while functions are instrumented inside the kernel.
PROBE := $(BUILD)/kadence/probe
LAB_TARGETS += $(SETTLE) $(LAB_INIT) $(LAB_CALLS) $(LAB_COUNTS) $(PROBE)

# What runs programs on this machine's own kernel and says what they took.
USAGE := $(BUILD)/kadence/usage
BUILD_TARGETS += $(USAGE)

$(SETTLE): kadence/lab/settle.c kadence/lab/mount.c kadence/lab/mount.h boot/mark.h
	@mkdir -p $(@D)
	$(CC12) $(LAB_GUEST_CFLAGS) -Iboot -o $@ $(filter %.c,$^)

$(LAB_INIT): kadence/lab/init.c
	@mkdir -p $(@D)
	$(CC12) $(LAB_GUEST_CFLAGS) -o $@ $<

$(LAB_CALLS): $(LAB_CALLS_SOURCES) $(wildcard kadence/lab/plugin/*.h)
$(LAB_COUNTS): $(LAB_COUNTS_SOURCES) $(wildcard kadence/lab/counting/*.h)
$(LAB_CALLS) $(LAB_COUNTS): kadence/lab/marks.h kadence/lab/options.h kadence/lab/qemu.h
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -D_GNU_SOURCE -DQEMU_MAJOR=$(QEMU_MAJOR) -fPIC \
		-fvisibility=hidden -shared -o $@ $(filter %.c,$^)

$(PROBE): $(wildcard kadence/observe/probes/*.[ch]) kadapt/uapi/kadapt_probe.h
	@mkdir -p $(@D)
	$(CC12) $(LAB_GUEST_CFLAGS) -Ikadapt/uapi -o $@ $(filter %.c,$^)

$(USAGE): kadence/usage.c
	@mkdir -p $(@D)
	$(CC12) $(LAB_GUEST_CFLAGS) -o $@ $<
