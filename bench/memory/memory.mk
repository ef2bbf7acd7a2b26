# SPDX-License-Identifier: GPL-2.0-or-later
TOUCH := $(BUILD)/bench/memory/touch
BENCH_TARGETS += $(TOUCH)

$(TOUCH): bench/memory/touch.c kadapt/uapi/kadapt.h
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -D_GNU_SOURCE -Ikadapt/uapi -o $@ $<

# ONLY=EXPRESSION chooses parts: touch, programs by name, lab (a page in the lab), and lab with a
# program's name, as in ONLY='touch|^fft' or ONLY=lab.
.PHONY: bench-memory
bench-memory: build-bench $(STAMPS)/minimap2-packages ## page faults, peak memory and time of programs with planned memory, beside plain ones
	$(PYTHON) -m bench.memory.memory $(if $(ONLY),--only '$(ONLY)')

# Programs from outside this tree, plain and adapted, on the machine's own kernel:
# PAIRS="'./fft -m22' './fft-adapted -m22' …", run in FOLDER.
.PHONY: bench-memory-home
bench-memory-home: build ## page faults, peak memory and processor time of PAIRS of commands, run in FOLDER
	$(PYTHON) -m bench.memory.memory_home --folder '$(FOLDER)' $(PAIRS)
