// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * Pass kadence_cfg records each function's shape. At the end of the unit, it writes the records
 * into the section .kadence.cfg (docs/artefacts-profile.md). The section is in the file, but it is
 * not loaded into the process. `readelf -p .kadence.cfg FILE` shows it.
 *
 * The pass leaves out functions whose body is only offered for inlining (extern inline): the unit
 * that emits them records them. Every unit that compiled a copy of a function (an inline function
 * of C++) records it. A function with several names is recorded under each name.
 */
#include "base/function_shape.h"
#include "base/passes.h"

namespace kadence
{
namespace
{

const char section_name[] = ".kadence.cfg";
/*
 * From an object that holds only code for link-time optimisation, the linker takes no ordinary
 * section. With -g it takes the sections that have this prefix, and removes the prefix.
 */
const char lto_section_name[] = ".gnu.debuglto_.kadence.cfg";

std::string records;

/* Control characters separate the fields, and the name of a file may contain them. */
std::string as_field(std::string text)
{
	for (char &letter : text)
		if ((unsigned char)letter < ' ')
			letter = '?';
	return text;
}

std::string joined(const std::vector<unsigned> &numbers)
{
	std::string text;

	for (unsigned number : numbers)
		text += (text.empty() ? "" : ",") + std::to_string(number);
	return text;
}

void record(size_t index, const loop_shape &loop)
{
	records += "L\t" + std::to_string(index) + '\t' + std::to_string(loop.line) + '\t' +
		   std::to_string(loop.depth) + '\t' + std::to_string(loop.before) + '\t' +
		   std::to_string(loop.header->index) + '\t' + joined(loop.latches) + '\n';
}

void record(const std::string &name, const function_shape &shape)
{
	char checksum[9];

	snprintf(checksum, sizeof(checksum), "%08x", shape.cfg_checksum);
	records += "F\t" + as_field(name) + '\t' + as_field(shape.file) + '\t' +
		   std::to_string(shape.line) + '\t' + checksum + '\t' +
		   std::to_string(shape.entry) + '\t' + std::to_string(shape.loops.size()) + '\n';
	for (size_t index = 0; index < shape.loops.size(); index++)
		record(index, shape.loops[index]);
}

void emit_section(const char *name, unsigned flags)
{
	switch_to_section(get_section(name, flags, NULL));
	ASM_OUTPUT_ASCII(asm_out_file, records.data(), (int)records.size());
}

const pass_data cfg_pass_data = {
    GIMPLE_PASS, "kadence_cfg", OPTGROUP_NONE, TV_NONE, PROP_cfg | PROP_ssa, 0, 0, 0, 0,
};

class cfg_pass : public gimple_opt_pass
{
      public:
	explicit cfg_pass(gcc::context *context) : gimple_opt_pass(cfg_pass_data, context)
	{
	}

	unsigned execute(function *fn) final override
	{
		if (DECL_EXTERNAL(fn->decl))
			return 0;
		const function_shape shape = shape_of(fn);
		record(shape.name, shape);
		for (const std::string &alias : shape.aliases)
			record(alias, shape);
		return 0;
	}
};

} // namespace

opt_pass *make_cfg_pass(gcc::context *context)
{
	return new cfg_pass(context);
}

void emit_cfg_section()
{
	if (!asm_out_file || records.empty() || seen_error())
		return;
	if (flag_generate_lto)
		emit_section(lto_section_name, SECTION_DEBUG | SECTION_EXCLUDE);
	if (!flag_generate_lto || flag_fat_lto_objects)
		emit_section(section_name, SECTION_DEBUG);
}

} // namespace kadence
