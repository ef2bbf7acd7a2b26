# SPDX-License-Identifier: GPL-2.0-or-later
# The lab: kernel operations counted in instructions. Static, for any guest may run them.
LAB := $(BUILD)/bench/lab/lab
LAB_CFLAGS := $(CFLAGS_STRICT) -D_GNU_SOURCE -static
BUILD_TARGETS += $(LAB)

$(LAB): $(wildcard bench/lab/*.[ch]) kadence/lab/mount.c kadence/lab/mount.h kadapt/uapi/kadapt.h
	@mkdir -p $(@D)
	$(CC12) $(LAB_CFLAGS) -Ikadapt/uapi -Ikadence/lab -o $@ $(filter %.c,$^)

# ONLY=EXPRESSION chooses operations by name, as in ONLY='tcp|write'.
.PHONY: bench-lab
bench-lab: build ## kernel paths counted in instructions: Debian's cloud kernel beside a tailored one
	$(PYTHON) bench/lab.py $(if $(KERNEL),--kernel '$(KERNEL)') $(if $(ONLY),--only '$(ONLY)')
