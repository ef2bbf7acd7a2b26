# SPDX-License-Identifier: GPL-2.0-or-later

# The tool that sees what commands ask of a kernel. Static, so that it runs in any guest.
WATCH := $(BUILD)/kconfig-gen/watch
# GCC's plugin that decides which functions of a kernel have places for units.
PLACES := $(BUILD)/kconfig-gen/places.so
# The one that says how they are called, for probes.
POINTS := $(BUILD)/kconfig-gen/points.so
BUILD_TARGETS += $(WATCH) $(PLACES) $(POINTS)

$(WATCH): $(wildcard kconfig-gen/watch/*.[ch])
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -D_GNU_SOURCE -static -o $@ $(filter %.c,$^)

$(PLACES) $(POINTS): $(BUILD)/kconfig-gen/%.so: kconfig-gen/plant/%.cc
	@mkdir -p $(@D)
	$(CXX12) $(GCCPLUGIN_CXXFLAGS) -isystem $(shell $(CXX12) -print-file-name=plugin)/include \
		-shared -o $@ $<

# For a series whose source the machine's own Debian release lacks.
.PHONY: series-7.3
series-7.3: deps ## fetch the source of Linux 7.3 from another Debian suite
	@$(PYTHON) -m kadence.kconfig.tree.fetch 7.3
