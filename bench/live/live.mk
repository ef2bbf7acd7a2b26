# SPDX-License-Identifier: GPL-2.0-or-later
# What units cost, in Debian's kernel under QEMU, whose clock counts instructions.
LIVE_CALLS := $(BUILD)/bench/live/calls
LIVE_SLEEPERS := $(BUILD)/bench/live/sleepers
LIVE_APPENDING := $(BUILD)/bench/live/appending
LIVE_POLICIES := $(BUILD)/bench/live/linger $(BUILD)/bench/live/gang
LIVE_STOPPED := $(BUILD)/bench/live/stopped
BENCH_TARGETS += $(LIVE_CALLS) $(LIVE_SLEEPERS) $(LIVE_APPENDING) $(LIVE_STOPPED) $(LIVE_POLICIES)

$(LIVE_CALLS): bench/live/calls.c kadapt/uapi/kadapt.h
$(LIVE_SLEEPERS): tests/kadapt/live/sleepers.c kadapt/uapi/kadapt.h
$(LIVE_APPENDING): bench/live/appending.c kadapt/uapi/kadapt.h
$(LIVE_CALLS) $(LIVE_SLEEPERS) $(LIVE_APPENDING):
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -D_GNU_SOURCE -static -Ikadapt/uapi -o $@ $<

$(LIVE_STOPPED): bench/live/stopped.c boot/mark.h
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -D_GNU_SOURCE -static -Iboot -o $@ $<

$(LIVE_POLICIES): $(BUILD)/bench/live/%: bench/live/%.c
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -D_GNU_SOURCE -static -o $@ $<

# CYCLES sets how often a unit is installed and removed while 200 processes are in it.
.PHONY: bench-live
bench-live: build-bench ## units: instructions a call, beside live patching and probes; installation; removal
	$(PYTHON) -m bench.live.live $(if $(CYCLES),--cycles $(CYCLES))

# What upstream's own calls do for two of the paper's uses of units.
.PHONY: bench-live-policies
bench-live-policies: build-bench ## units that users asked for, beside upstream: idle cycles only, paging by jobs
	$(PYTHON) -m bench.live.policies
