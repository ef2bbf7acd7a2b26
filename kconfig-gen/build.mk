# SPDX-License-Identifier: GPL-2.0-or-later

# The tool that sees what commands ask of a kernel. Static, so that it runs in any guest.
WATCH := $(BUILD)/kconfig-gen/watch
BUILD_TARGETS += $(WATCH)

$(WATCH): $(wildcard kconfig-gen/watch/*.[ch])
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -D_GNU_SOURCE -static -o $@ $(filter %.c,$^)

# For a series whose source the machine's own Debian release lacks.
.PHONY: series-7.3
series-7.3: deps ## fetch the source of Linux 7.3 from another Debian suite
	@$(PYTHON) -m kadence.kconfig.tree.fetch 7.3
