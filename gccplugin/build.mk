# SPDX-License-Identifier: GPL-2.0-or-later
# The compiler plugin and the wrappers.

gccplugin_dir := $(BUILD)/gccplugin
gccplugin_sources := $(wildcard gccplugin/*.cc gccplugin/*/*.cc)
gccplugin_headers := $(wildcard gccplugin/*/*.h)
gccplugin_objects := $(gccplugin_sources:gccplugin/%.cc=$(BUILD)/objects/gccplugin/%.o)
gccplugin_include = $(shell $(CXX12) -print-file-name=plugin)/include

# Without exceptions and run-time types, as the compiler itself is built. The compiler's headers are
# included as system headers, because they are not clean at -Wextra.
GCCPLUGIN_CXXFLAGS := $(CFLAGS_STRICT) -std=gnu++17 -fPIC -fno-exceptions -fno-rtti \
	-fvisibility=hidden

BUILD_TARGETS += $(gccplugin_dir)/kadence.so $(gccplugin_dir)/link.specs
BUILD_TARGETS += $(gccplugin_dir)/profile.specs
BUILD_TARGETS += $(gccplugin_dir)/check-markers
BUILD_TARGETS += $(BUILD)/bin/kadence-cc $(BUILD)/bin/kadence-c++ $(BUILD)/bin/kadence-fc

$(BUILD)/objects/gccplugin/%.o: gccplugin/%.cc $(gccplugin_headers) kadapt/lib/calls.def
	@mkdir -p $(@D)
	$(CXX12) $(GCCPLUGIN_CXXFLAGS) -I gccplugin -I kadapt/lib -isystem $(gccplugin_include) -c -o $@ $<

$(gccplugin_dir)/kadence.so: $(gccplugin_objects)
	@mkdir -p $(@D)
	$(CXX12) -shared -o $@ $^

$(gccplugin_dir)/%.specs: gccplugin/%.specs
	@mkdir -p $(@D)
	cp $< $@

$(gccplugin_dir)/check-markers: gccplugin/check-markers.sh
	@mkdir -p $(@D)
	cp $< $@

# make_wrapper NAME COMPILER: the package has the name of the compiler.
define make_wrapper
	@mkdir -p $(@D)
	sed -e 's|@NAME@|$(1)|g' -e 's|@COMPILER@|$(2)|g' -e 's|@PACKAGE@|$(2)|g' $< >$@
	chmod +x $@
endef

$(BUILD)/bin/kadence-cc: gccplugin/wrapper.sh
	$(call make_wrapper,kadence-cc,$(CC12))

$(BUILD)/bin/kadence-c++: gccplugin/wrapper.sh
	$(call make_wrapper,kadence-c++,$(CXX12))

$(BUILD)/bin/kadence-fc: gccplugin/wrapper.sh
	$(call make_wrapper,kadence-fc,$(FC12))
