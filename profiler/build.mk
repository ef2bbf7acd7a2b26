# SPDX-License-Identifier: GPL-2.0-or-later
# kbbv, linked like Valgrind's own tools, in a directory that VALGRIND_LIB can name.

KBBV := $(BUILD)/profiler/valgrind
KBBV_OBJECTS := $(patsubst profiler/kbbv/%.c,$(BUILD)/profiler/kbbv/%.o,$(wildcard profiler/kbbv/*.c))
KBBV_NAMES := $(BUILD)/profiler/kbbv/systemcall_names.h
VALGRIND_ARCHIVES := /usr/lib/x86_64-linux-gnu/valgrind
VALGRIND_TOOLS := /usr/libexec/valgrind

# What Valgrind compiles its own tools with: no library, no stack protector, one fixed place.
# Valgrind's headers need anonymous flags off where our own code has them on, hence -isystem.
KBBV_CFLAGS := $(CFLAGS_STRICT) -std=gnu11 -fno-builtin -fno-strict-aliasing -fno-stack-protector \
	-fno-pie -fomit-frame-pointer \
	-DVGA_amd64=1 -DVGO_linux=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1 \
	-isystem /usr/include/valgrind -I $(BUILD)/profiler/kbbv -I kadapt/lib -I profiler
# What VEX is asked for goes through translate.c.
KBBV_LDFLAGS := -static -no-pie -nodefaultlibs -nostartfiles -u _start \
	-Wl,--build-id=none -Wl,-Ttext-segment=0x58000000 \
	-Wl,--wrap=LibVEX_Translate

BUILD_TARGETS += $(KBBV)/kbbv-amd64-linux $(KBBV)/default.supp

# The calls as this machine's headers number them: `[0] = "read",` and so on.
$(KBBV_NAMES): profiler/build.mk
	@mkdir -p $(@D)
	echo '#include <asm/unistd.h>' | $(CC12) -E -dM - | \
		sed -nE 's/^#define __NR_([a-z0-9_]+) ([0-9]+)$$/[\2] = "\1",/p' | sort > $@

$(BUILD)/profiler/kbbv/%.o: profiler/kbbv/%.c $(wildcard profiler/kbbv/*.h) profiler/format/stream_format.h \
		kadapt/lib/calls.def $(KBBV_NAMES) profiler/build.mk
	@mkdir -p $(@D)
	$(CC12) $(KBBV_CFLAGS) -c -o $@ $<

$(KBBV)/kbbv-amd64-linux: $(KBBV_OBJECTS)
	@mkdir -p $(@D)
	$(CC12) $(KBBV_LDFLAGS) -o $@ $^ -L $(VALGRIND_ARCHIVES) \
		-lcoregrind-amd64-linux -lvex-amd64-linux -lgcc-sup-amd64-linux -lgcc

# Valgrind looks for everything else it needs in the same directory.
$(KBBV)/default.supp: profiler/build.mk
	@mkdir -p $(@D)
	for file in $(VALGRIND_TOOLS)/default.supp $(VALGRIND_TOOLS)/vgpreload_core-amd64-linux.so \
		$(VALGRIND_TOOLS)/*.xml; do ln -sf $$file $(@D)/; done

# libkprofile, linked into programs of profile mode. What runs on the kernel's thread of its own has
# no stack protector, whose value is in memory of another thread; cleanups run through `run`.
KPROFILE_CFLAGS := $(CFLAGS_STRICT) -std=gnu11 -D_GNU_SOURCE -fPIC -fno-stack-protector -fexceptions \
	-fvisibility=hidden -ffunction-sections -I profiler
KPROFILE_COMMON := $(patsubst profiler/runtime/%.c,$(BUILD)/profiler/runtime/%.o,\
	$(filter-out %/interpose.c,$(wildcard profiler/runtime/*.c)))

BUILD_TARGETS += $(BUILD)/profiler/libkprofile.a $(BUILD)/profiler/libkprofile-static.a

$(BUILD)/profiler/runtime/%.o: profiler/runtime/%.c $(wildcard profiler/runtime/*.h) \
		profiler/format/stream_format.h profiler/build.mk
	@mkdir -p $(@D)
	$(CC12) $(KPROFILE_CFLAGS) -c -o $@ $<

$(BUILD)/profiler/runtime/interpose-static.o: profiler/runtime/interpose.c \
		$(wildcard profiler/runtime/*.h) profiler/format/stream_format.h profiler/build.mk
	@mkdir -p $(@D)
	$(CC12) $(KPROFILE_CFLAGS) -DSTATIC -c -o $@ $<

$(BUILD)/profiler/libkprofile.a: $(KPROFILE_COMMON) $(BUILD)/profiler/runtime/interpose.o
	rm -f $@
	ar rcs $@ $^

$(BUILD)/profiler/libkprofile-static.a: $(KPROFILE_COMMON) $(BUILD)/profiler/runtime/interpose-static.o
	rm -f $@
	ar rcs $@ $^
