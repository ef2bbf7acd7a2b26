# SPDX-License-Identifier: GPL-2.0-or-later
# Figure 3 of the application-specific Linux paper: bench/send/send.py.
SENDERS := $(patsubst %,$(BUILD)/bench/send/send-%,plain batch)
SEND_CFLAGS := $(CFLAGS_STRICT) -D_GNU_SOURCE -Ikadapt/uapi -Ikadapt/lib -Ibench/lab
BENCH_TARGETS += $(SENDERS)

SEND_SOURCES := bench/send/main.c bench/send/send.h bench/lab/loopback.c bench/lab/loopback.h

$(BUILD)/bench/send/send-plain: $(SEND_SOURCES) bench/send/pieces.c
	@mkdir -p $(@D)
	$(CC12) $(SEND_CFLAGS) '-DMAKE="plain"' -o $@ $(filter %.c,$^)

$(BUILD)/bench/send/send-%: $(SEND_SOURCES) bench/send/pieces_%.c bench/send/plan.c $(LIBKADAPT) $(LIBKADAPT_IO) \
		$(LIBKADAPT_HEADERS)
	@mkdir -p $(@D)
	$(CC12) $(SEND_CFLAGS) '-DMAKE="$*"' -rdynamic -o $@ $(filter %.c,$^) $(LIBKADAPT) -lc $(LIBKADAPT_IO) -pthread

# ROUNDS sets how often each transfer is measured.
.PHONY: bench-send
bench-send: build-bench ## the paper's Figure 3: total send time by the size of a send
	$(PYTHON) -m bench.send.send $(if $(ROUNDS),--rounds $(ROUNDS))
