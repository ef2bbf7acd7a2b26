# SPDX-License-Identifier: GPL-2.0-or-later
# The node's tool and Slurm's plugin. kadence-step is the same tool under another name, by which it
# acts as a step's command.

SLURM_NODE := $(BUILD)/slurm/kadence-node
SLURM_STEP := $(BUILD)/slurm/kadence-step
SLURM_PLUGIN := $(BUILD)/slurm/kadence.so

slurm_node_objects := $(patsubst slurm/node/%.cc,$(BUILD)/objects/slurm/%.o,$(wildcard slurm/node/*.cc slurm/node/*/*.cc))

SLURM_TARGETS += $(SLURM_NODE) $(SLURM_STEP) $(SLURM_PLUGIN)

$(BUILD)/objects/slurm/%.o: slurm/node/%.cc $(wildcard slurm/node/*.h slurm/node/*/*.h) kadapt/uapi/kadapt.h
	@mkdir -p $(@D)
	$(CXX12) $(CFLAGS_STRICT) -D_GNU_SOURCE -std=gnu++17 -I slurm/node -I kadapt/uapi -c -o $@ $<

$(SLURM_NODE): $(slurm_node_objects)
	@mkdir -p $(@D)
	$(CXX12) -o $@ $^ -larchive -lcrypto -lacl

$(SLURM_STEP): $(SLURM_NODE)
	ln -sf $(<F) $@

$(SLURM_PLUGIN): $(wildcard slurm/spank/*.c) $(wildcard slurm/spank/*.h)
	@mkdir -p $(@D)
	$(CC12) $(CFLAGS_STRICT) -D_GNU_SOURCE -std=gnu11 -fPIC -fvisibility=hidden -shared -o $@ \
		$(filter %.c,$^)
