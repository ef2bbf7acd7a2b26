# SPDX-License-Identifier: GPL-2.0-or-later
# libkadapt, for linking into adapted programs; the driver is built inside kernels, and on demand
# as a module: `make kadapt-module RELEASE=6.12.117+deb12-cloud-amd64`.

# Phases, for every adapted program.
LIBKADAPT := $(BUILD)/kadapt/libkadapt.a
# Rings and batches, and functions of the C library. On the link line it comes after -lc: then
# references to those functions go to the C library, and a member of this archive is taken only for
# its own functions.
LIBKADAPT_IO := $(BUILD)/kadapt/libkadapt-io.a
# The same for static programs, in which nothing can be interposed.
LIBKADAPT_IO_STATIC := $(BUILD)/kadapt/libkadapt-io-static.a
# The arena, and free() and related functions; also comes after -lc.
LIBKADAPT_MEMORY := $(BUILD)/kadapt/libkadapt-memory.a
LIBKADAPT_MEMORY_STATIC := $(BUILD)/kadapt/libkadapt-memory-static.a

LIBKADAPT_HEADERS := $(wildcard kadapt/lib/*.h kadapt/lib/*/*.h) kadapt/uapi/kadapt.h
# $(call lib_objects,FOLDER...): the objects of folders below kadapt/lib, without static variants.
lib_objects = $(patsubst kadapt/lib/%.c,$(BUILD)/kadapt/lib/%.o, \
	$(filter-out %_static.c,$(wildcard $(addprefix kadapt/lib/,$(addsuffix /*.c,$(1))))))
# One object each, because their parts belong together: the device with its destructor, the
# interposed functions with the calls that rely on them, the functions that slices need, and the
# trials with their constructor.
LIBKADAPT_BASE := $(BUILD)/kadapt/lib/base.o
LIBKADAPT_CALLS := $(BUILD)/kadapt/lib/calls.o
LIBKADAPT_TRIALS := $(BUILD)/kadapt/lib/trials.o
LIBKADAPT_FILTER := $(BUILD)/kadapt/lib/filter.o
LIBKADAPT_SLICE := $(call lib_objects,slice)
LIBKADAPT_OBSERVE := $(call lib_objects,observe)
LIBKADAPT_PHASES := $(BUILD)/kadapt/lib/phase/phase.o $(LIBKADAPT_BASE) $(LIBKADAPT_TRIALS) \
	$(LIBKADAPT_SLICE) $(LIBKADAPT_OBSERVE)
LIBKADAPT_IO_OBJECTS := $(LIBKADAPT_PHASES) $(LIBKADAPT_CALLS) $(LIBKADAPT_FILTER) \
	$(call lib_objects,ring)
LIBKADAPT_IO_STATIC_OBJECTS := $(LIBKADAPT_PHASES) \
	$(filter-out %/next.o,$(call lib_objects,ring calls)) \
	$(addprefix $(BUILD)/kadapt/lib/,calls/next_static.o filter/guard_static.o interpose/anchor_static.o)
LIBKADAPT_MEMORY_OBJECTS := $(LIBKADAPT_PHASES) $(call lib_objects,pages arena free)
LIBKADAPT_MEMORY_STATIC_OBJECTS := $(LIBKADAPT_PHASES) $(BUILD)/kadapt/lib/static/arena/arena.o \
	$(addprefix $(BUILD)/kadapt/lib/pages/,costs.o group.o machine.o pages.o) \
	$(addprefix $(BUILD)/kadapt/lib/arena/,budget.o calls.o home.o mappings.o new.o ranges.o)

BUILD_TARGETS += $(LIBKADAPT) $(LIBKADAPT_IO) $(LIBKADAPT_IO_STATIC)
BUILD_TARGETS += $(LIBKADAPT_MEMORY) $(LIBKADAPT_MEMORY_STATIC)

# Position-independent, because adapted code may end up in a shared library.
$(BUILD)/kadapt/lib/%.o: kadapt/lib/%.c $(LIBKADAPT_HEADERS) kadapt/build.mk
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -std=gnu11 -fPIC -I kadapt/uapi -I kadapt/lib -c -o $@ $<

$(LIBKADAPT_BASE): $(call lib_objects,base)
$(LIBKADAPT_CALLS): $(call lib_objects,calls interpose)
$(LIBKADAPT_FILTER): $(call lib_objects,filter)
$(LIBKADAPT_TRIALS): $(call lib_objects,trials decide ranks)
$(LIBKADAPT_BASE) $(LIBKADAPT_CALLS) $(LIBKADAPT_FILTER) $(LIBKADAPT_TRIALS):
	ld -r -o $@ $^

$(LIBKADAPT): $(LIBKADAPT_PHASES)
$(LIBKADAPT_IO): $(LIBKADAPT_IO_OBJECTS)
$(LIBKADAPT_IO_STATIC): $(LIBKADAPT_IO_STATIC_OBJECTS)
$(LIBKADAPT_MEMORY): $(LIBKADAPT_MEMORY_OBJECTS)
$(LIBKADAPT_MEMORY_STATIC): $(LIBKADAPT_MEMORY_STATIC_OBJECTS)
$(LIBKADAPT) $(LIBKADAPT_IO) $(LIBKADAPT_IO_STATIC) $(LIBKADAPT_MEMORY) $(LIBKADAPT_MEMORY_STATIC):
	@rm -f $@
	ar rcsD $@ $^

# Tools that are told of phases: KADAPT_TOOL names one at start.
KADAPT_ADAPTERS := $(patsubst kadapt/adapters/%.c,$(BUILD)/kadapt/libkadapt-%.so,$(wildcard kadapt/adapters/*.c))
BUILD_TARGETS += $(KADAPT_ADAPTERS)

$(KADAPT_ADAPTERS): $(BUILD)/kadapt/libkadapt-%.so: kadapt/adapters/%.c kadapt/lib/kadapt_tool.h
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -std=gnu11 -fPIC -shared -I kadapt/lib -o $@ $<

# Measures for the arena what memory costs on this machine's own kernel.
MEASURE_MEMORY := $(BUILD)/kadapt/measure-memory
BUILD_TARGETS += $(MEASURE_MEMORY)

$(MEASURE_MEMORY): kadapt/measure/memory.c \
		$(addprefix $(BUILD)/kadapt/lib/pages/,costs.o machine.o pages.o) $(LIBKADAPT_HEADERS)
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -std=gnu11 -D_GNU_SOURCE -I kadapt/uapi -I kadapt/lib -o $@ $(filter %.c %.o,$^)

# The module for the kernel RELEASE, by default the running one. The kernel's headers are in /usr/src
# or KADAPT_HEADERS.
RELEASE ?= $(shell uname -r)
KADAPT_HEADERS ?= /usr/src/linux-headers-$(RELEASE)
KADAPT_MODULE_FOLDER = $(BUILD)/kadapt/module-$(RELEASE)

.PHONY: kadapt-module
kadapt-module: ## build kadapt.ko and kadapt_probe.ko for the kernel RELEASE=
	@test -d '$(KADAPT_HEADERS)' || { \
		echo '$(KADAPT_HEADERS) is missing; install linux-headers-$(RELEASE)' >&2; exit 1; }
	+@MAKE='$(MAKE)' kadapt/build-module '$(KADAPT_HEADERS)' '$(KADAPT_MODULE_FOLDER)'
