# SPDX-License-Identifier: GPL-2.0-or-later
# The lab's program counts kernel operations in instructions. It is static, so any guest can run it.
LAB := $(BUILD)/bench/lab/lab
LAB_CFLAGS := $(CFLAGS_STRICT) -D_GNU_SOURCE -static
LAB_TARGETS += $(LAB)

$(LAB): $(wildcard bench/lab/*.[ch]) kadence/lab/mount.c kadence/lab/mount.h boot/mark.h kadapt/uapi/kadapt.h
	@mkdir -p $(@D)
	$(CC12) $(LAB_CFLAGS) -Ikadapt/uapi -Ikadence/lab -Iboot -o $@ $(filter %.c,$^)

# The same sources as an adapted program, and as a plain program to compare with it. Both are linked
# dynamically, because libkadapt interposes functions of the C library.
BENCH_TARGETS += $(BUILD)/bench/lab/lab-dynamic
$(BUILD)/bench/lab/lab-dynamic: $(wildcard bench/lab/*.[ch]) kadence/lab/mount.c kadence/lab/mount.h boot/mark.h \
		kadapt/uapi/kadapt.h
	@mkdir -p $(@D)
	$(CC12) $(filter-out -static,$(LAB_CFLAGS)) -Ikadapt/uapi -Ikadence/lab -Iboot -o $@ $(filter %.c,$^)

BENCH_TARGETS += $(BUILD)/bench/lab/lab-adapted
$(BUILD)/bench/lab/lab-adapted: $(wildcard bench/lab/*.[ch]) kadence/lab/mount.c kadence/lab/mount.h boot/mark.h \
		$(LIBKADAPT) $(LIBKADAPT_IO) \
		$(LIBKADAPT_HEADERS)
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -D_GNU_SOURCE -DADAPTED -Ikadapt/uapi -Ikadapt/lib \
		-Ikadence/lab -Iboot -rdynamic -o $@ $(filter %.c,$^) $(LIBKADAPT) -lc $(LIBKADAPT_IO) -pthread

# ONLY=EXPRESSION chooses operations by name, as in ONLY='tcp|write'.
.PHONY: bench-lab
bench-lab: build-bench ## kernel paths counted in instructions: Debian's cloud kernel beside a tailored one
	$(PYTHON) -m bench.lab.lab $(if $(KERNEL),--kernel '$(KERNEL)') $(if $(ONLY),--only '$(ONLY)')
