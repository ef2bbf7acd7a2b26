# SPDX-License-Identifier: GPL-2.0-or-later
# The guest's init, the relay, the probe, the program that measures costs, and the program that
# starts a file server beside QEMU. All but the last are static: init because it may run before
# anything else works, the relay because its environment is the command's (LD_PRELOAD, ...), the
# probe and the costs because they run in guests, too.

BOOT_CFLAGS := $(CFLAGS_STRICT) -D_GNU_SOURCE -static
BOOT_HEADERS := $(wildcard boot/*.h boot/*/*.h)

BUILD_TARGETS += $(BUILD)/boot/init $(BUILD)/boot/relay $(BUILD)/boot/probe \
	$(BUILD)/boot/costs $(BUILD)/boot/file-server

$(BUILD)/boot/init: $(wildcard boot/init/*.c) $(BOOT_HEADERS)
	@mkdir -p $(@D)
	$(CC12) $(BOOT_CFLAGS) -o $@ $(filter %.c,$^)

$(BUILD)/boot/relay: $(wildcard boot/relay/*.c) $(BOOT_HEADERS)
	@mkdir -p $(@D)
	$(CC12) $(BOOT_CFLAGS) -pthread -o $@ $(filter %.c,$^)

$(BUILD)/boot/probe: $(wildcard boot/probe/*.[ch])
	@mkdir -p $(@D)
	$(CC12) $(BOOT_CFLAGS) -o $@ $(filter %.c,$^)

$(BUILD)/boot/costs: $(wildcard boot/costs/*.[ch])
	@mkdir -p $(@D)
	$(CC12) $(BOOT_CFLAGS) -O2 -pthread -o $@ $(filter %.c,$^)

$(BUILD)/boot/file-server: boot/file_server/main.c
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -D_GNU_SOURCE -o $@ $<
