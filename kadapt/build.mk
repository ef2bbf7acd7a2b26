# SPDX-License-Identifier: GPL-2.0-or-later
# libkadapt, for linking into adapted programs; the driver is built inside kernels, and on demand
# as a module: `make kadapt-module RELEASE=6.12.117+deb12-cloud-amd64`.

# Phases, for every adapted program.
LIBKADAPT := $(BUILD)/kadapt/libkadapt.a
# I/O paths, which also define functions of the C library's. On the link line it comes after -lc:
# then those functions are found there, and a member of this archive is taken only for its own.
LIBKADAPT_IO := $(BUILD)/kadapt/libkadapt-io.a
# The same for static programs, in which nothing can be interposed.
LIBKADAPT_IO_STATIC := $(BUILD)/kadapt/libkadapt-io-static.a
# Large blocks of memory, which define free() and its like; comes after -lc likewise.
LIBKADAPT_MEMORY := $(BUILD)/kadapt/libkadapt-memory.a
LIBKADAPT_MEMORY_STATIC := $(BUILD)/kadapt/libkadapt-memory-static.a

LIBKADAPT_HEADERS := $(wildcard kadapt/lib/*.h kadapt/lib/memory/*.h) kadapt/uapi/kadapt.h
LIBKADAPT_IO_OBJECTS := $(patsubst kadapt/lib/%.c,$(BUILD)/kadapt/lib/%.o,$(wildcard kadapt/lib/*.c))
LIBKADAPT_OBJECTS := $(addprefix $(BUILD)/kadapt/lib/,device_file.o libkadapt.o report.o)
LIBKADAPT_IO_STATIC_OBJECTS := $(BUILD)/kadapt/lib/static/next.o \
	$(filter-out %/next.o $(BUILD)/kadapt/lib/interpose_%.o,$(LIBKADAPT_IO_OBJECTS))
LIBKADAPT_MEMORY_OBJECTS := $(LIBKADAPT_OBJECTS) \
	$(patsubst kadapt/lib/%.c,$(BUILD)/kadapt/lib/%.o,$(wildcard kadapt/lib/memory/*.c))
LIBKADAPT_MEMORY_STATIC_OBJECTS := $(LIBKADAPT_OBJECTS) $(BUILD)/kadapt/lib/static/memory/arena.o \
	$(addprefix $(BUILD)/kadapt/lib/memory/,calls.o costs.o home.o machine.o mappings.o new.o pages.o ranges.o)

BUILD_TARGETS += $(LIBKADAPT) $(LIBKADAPT_IO) $(LIBKADAPT_IO_STATIC)
BUILD_TARGETS += $(LIBKADAPT_MEMORY) $(LIBKADAPT_MEMORY_STATIC)

# Position-independent, because adapted code may end up in a shared library.
$(BUILD)/kadapt/lib/%.o: kadapt/lib/%.c $(LIBKADAPT_HEADERS) kadapt/build.mk
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -std=gnu11 -fPIC -I kadapt/uapi -I kadapt/lib -c -o $@ $<

$(LIBKADAPT): $(LIBKADAPT_OBJECTS)
$(LIBKADAPT_IO): $(LIBKADAPT_IO_OBJECTS)
$(LIBKADAPT_IO_STATIC): $(LIBKADAPT_IO_STATIC_OBJECTS)
$(LIBKADAPT_MEMORY): $(LIBKADAPT_MEMORY_OBJECTS)
$(LIBKADAPT_MEMORY_STATIC): $(LIBKADAPT_MEMORY_STATIC_OBJECTS)
$(LIBKADAPT) $(LIBKADAPT_IO) $(LIBKADAPT_IO_STATIC) $(LIBKADAPT_MEMORY) $(LIBKADAPT_MEMORY_STATIC):
	@rm -f $@
	ar rcsD $@ $^

# What memory costs on this machine's own kernel, measured for the arena.
MEASURE_MEMORY := $(BUILD)/kadapt/measure-memory
BUILD_TARGETS += $(MEASURE_MEMORY)

$(MEASURE_MEMORY): kadapt/measure/memory.c \
		$(addprefix $(BUILD)/kadapt/lib/memory/,costs.o machine.o pages.o) $(LIBKADAPT_HEADERS)
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -std=gnu11 -D_GNU_SOURCE -I kadapt/uapi -I kadapt/lib -o $@ $(filter %.c %.o,$^)

# The module of a kernel whose headers are in /usr/src or KADAPT_HEADERS; RELEASE is by default
# the running one's.
RELEASE ?= $(shell uname -r)
KADAPT_HEADERS ?= /usr/src/linux-headers-$(RELEASE)
KADAPT_MODULE_FOLDER = $(BUILD)/kadapt/module-$(RELEASE)

# Kbuild puts objects beside sources, so it gets copies; and it takes the folder for itself.
.PHONY: kadapt-module
kadapt-module: ## build kadapt.ko for the kernel RELEASE=
	@test -d '$(KADAPT_HEADERS)' || { \
		echo '$(KADAPT_HEADERS) is missing; install linux-headers-$(RELEASE)' >&2; exit 1; }
	@mkdir -p $(KADAPT_MODULE_FOLDER)/uapi
	@cp -pu kadapt/driver/* $(KADAPT_MODULE_FOLDER)/
	@cp -pu kadapt/uapi/kadapt.h $(KADAPT_MODULE_FOLDER)/uapi/
	+flock $(KADAPT_MODULE_FOLDER)/.lock \
		$(MAKE) -C '$(KADAPT_HEADERS)' M='$(CURDIR)/$(KADAPT_MODULE_FOLDER)' CONFIG_KADAPT=m CONFIG_KADAPT_RINGS=y modules
