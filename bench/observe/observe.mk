# SPDX-License-Identifier: GPL-2.0-or-later
# What instruments of kernel functions cost, and how exact they are, in Debian's kernel under QEMU.
OBSERVE_PROGRAMS := $(addprefix $(BUILD)/bench/observe/,writes proxy phases)
OBSERVE_HEAT := $(BUILD)/bench/observe/heat
BENCH_TARGETS += $(OBSERVE_PROGRAMS) $(OBSERVE_HEAT)

$(BUILD)/bench/observe/writes: bench/observe/writes.c
$(BUILD)/bench/observe/proxy: bench/observe/proxy.c boot/mark.h
$(BUILD)/bench/observe/phases: tests/kadapt/probe/phases.c kadapt/uapi/kadapt.h boot/mark.h
$(OBSERVE_PROGRAMS):
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -D_GNU_SOURCE -static -Ikadapt/uapi -Iboot -o $@ $<

$(OBSERVE_HEAT): examples/heat/heat.c
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -o $@ $< -lm

.PHONY: bench-observe
bench-observe: build-bench $(STAMPS)/observe-packages ## instruments: cost, start and error; whole programs; KernInst's case
	$(PYTHON) -m bench.observe.observe

.PHONY: bench-observe-um
bench-observe-um: build-bench build-lab ## points and instruments of a User-Mode Linux kernel: what they cost
	$(PYTHON) -m bench.observe.um

$(STAMPS)/observe-packages: requirements/debian-observe.txt $(STAMPS)/packages
	@$(call install_packages,$<)

.PHONY: bench-timeline
bench-timeline: build test-deps ## the page of a timeline with a million events: size, and times to open and paint
	$(PYTHON) -m bench.observe.timeline_page
