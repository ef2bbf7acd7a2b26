# SPDX-License-Identifier: GPL-2.0-or-later
# The compiler plugin and the wrappers.

gccplugin_dir := $(BUILD)/gccplugin
gccplugin_sources := $(wildcard gccplugin/*.cc gccplugin/*/*.cc)
gccplugin_headers := $(wildcard gccplugin/*/*.h)

# The wrappers' own compilers are those of the system. A plugin fits one release of GCC; GCC has the
# releases to build it for. CXX_14=/opt/gcc-14/bin/g++ names a compiler that is elsewhere.
GCC_OF_SYSTEM := $(shell gcc -dumpversion 2>/dev/null | cut -d. -f1)
GCC ?= $(GCC_OF_SYSTEM)

# Without exceptions and run-time types, as the compiler itself is built. The compiler's headers are
# included as system headers, because they are not clean at -Wextra.
GCCPLUGIN_CXXFLAGS := $(CFLAGS_STRICT) -std=gnu++17 -fPIC -fno-exceptions -fno-rtti \
	-fvisibility=hidden

GCCPLUGINS := $(GCC:%=$(gccplugin_dir)/%/kadence.so)
GCCSPECS := $(foreach name,link profile,$(GCC:%=$(gccplugin_dir)/%/$(name).specs))
BUILD_TARGETS += $(GCCPLUGINS) $(GCCSPECS)
BUILD_TARGETS += $(gccplugin_dir)/check-markers $(gccplugin_dir)/cache.h
BUILD_TARGETS += $(BUILD)/bin/kadence-cc $(BUILD)/bin/kadence-c++ $(BUILD)/bin/kadence-fc
BUILD_TARGETS += $(BUILD)/bin/kadence-launch
# Names under which builds call compilers.
AS_GCC := cc c++ gcc g++ gfortran $(addsuffix -$(GCC_OF_SYSTEM),gcc g++ gfortran)

.PHONY: plugin
plugin: $(STAMPS)/packages ## the compiler plugin for other releases of GCC (GCC="13 14")
	$(call make_parts,$(GCCPLUGINS) $(GCCSPECS))

# $(call gccplugin_rules,RELEASE)
define gccplugin_rules
gccplugin_cxx_$(1) := $(or $(CXX_$(1)),g++-$(1))
gccplugin_include_$(1) = $$(shell $$(gccplugin_cxx_$(1)) -print-file-name=plugin)/include

$(BUILD)/objects/gccplugin/$(1)/%.o: gccplugin/%.cc $(gccplugin_headers) kadapt/lib/calls.def
	@mkdir -p $$(@D)
	@gccplugin/require-compiler $(1) $$(gccplugin_cxx_$(1))
	$$(gccplugin_cxx_$(1)) $(GCCPLUGIN_CXXFLAGS) -I gccplugin -I kadapt/lib \
		-isystem $$(gccplugin_include_$(1)) -c -o $$@ $$<

$(gccplugin_dir)/$(1)/kadence.so: $(gccplugin_sources:gccplugin/%.cc=$(BUILD)/objects/gccplugin/$(1)/%.o)
	@mkdir -p $$(@D)
	$$(gccplugin_cxx_$(1)) -shared -o $$@ $$^

$(gccplugin_dir)/$(1)/%.specs: gccplugin/%.specs gccplugin/add-libraries
	@mkdir -p $$(@D)
	@gccplugin/require-compiler $(1) $$(gccplugin_cxx_$(1))
	gccplugin/add-libraries $$(gccplugin_cxx_$(1)) $$< >$$@
endef
$(foreach release,$(GCC),$(eval $(call gccplugin_rules,$(release))))

$(gccplugin_dir)/check-markers: gccplugin/check-markers.sh
	@mkdir -p $(@D)
	cp $< $@

$(gccplugin_dir)/cache.h: gccplugin/cache.h
	@mkdir -p $(@D)
	cp $< $@

# make_wrapper NAME VARIABLE COMPILER
define make_wrapper
	@mkdir -p $(@D)
	sed -e 's|@NAME@|$(1)|g' -e 's|KADENCE_COMPILER|$(2)|g' -e 's|@COMPILER@|$(3)|g' \
		-e 's|@RELEASE@|$(GCC_OF_SYSTEM)|g' $< >$@
	chmod +x $@
endef

$(BUILD)/bin/kadence-cc: gccplugin/wrapper.sh
	$(call make_wrapper,kadence-cc,KADENCE_CC,gcc)

$(BUILD)/bin/kadence-c++: gccplugin/wrapper.sh
	$(call make_wrapper,kadence-c++,KADENCE_CXX,g++)

$(BUILD)/bin/kadence-fc: gccplugin/wrapper.sh
	$(call make_wrapper,kadence-fc,KADENCE_FC,gfortran)

$(BUILD)/bin/kadence-launch: gccplugin/launch.sh
	@mkdir -p $(BUILD)/bin/as-gcc
	cp $< $@
	for name in $(AS_GCC); do ln -sf ../kadence-launch $(BUILD)/bin/as-gcc/$$name; done
