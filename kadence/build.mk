# SPDX-License-Identifier: GPL-2.0-or-later
# settle, which `kadence lab` runs in the guest before the command. Static, for any guest.
SETTLE := $(BUILD)/kadence/settle
BUILD_TARGETS += $(SETTLE)

$(SETTLE): kadence/lab/settle.c kadence/lab/mount.c kadence/lab/mount.h
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -D_GNU_SOURCE -static -o $@ $(filter %.c,$^)
