// SPDX-License-Identifier: GPL-3.0-or-later
#include "count/block_marks.h"
#include "count/count_tables.h"

#include <map>

namespace kadence
{

const char counters_name[] = "kadence_counters";

namespace
{

enum { tables_version = 3, flag_fast = 0x1 };

std::vector<function_counts> compiled;
unsigned counters;

/* The texts of the tables; each text is there once, at an offset. */
class text_table
{
      public:
	unsigned offset_of(const std::string &text)
	{
		const auto found = offsets.emplace(text, bytes.size());

		if (found.second)
			bytes += text + '\0';
		return found.first->second;
	}

	void emit() const
	{
		fputs(".Lkadence_texts:\n", asm_out_file);
		ASM_OUTPUT_ASCII(asm_out_file, bytes.data(), (int)bytes.size());
	}

      private:
	std::map<std::string, size_t> offsets;
	std::string bytes;
};

void emit_word(unsigned value)
{
	fprintf(asm_out_file, "\t.long\t%u\n", value);
}

void emit_function_names(text_table &texts)
{
	emit_word(named_functions().size());
	for (const named_function &item : named_functions()) {
		emit_word(texts.offset_of(item.name));
		emit_word(texts.offset_of(item.file));
		emit_word(item.cfg_checksum);
		emit_word(item.first_block);
		emit_word(item.blocks);
		emit_word(item.for_layout);
	}
}

void emit_block_names()
{
	emit_word(named_blocks().size());
	for (const named_block &item : named_blocks()) {
		emit_word(item.function);
		emit_word(item.index);
		emit_word(item.line);
		emit_word(item.instructions << 1 | item.entry);
	}
}

void add_sum(const sum &terms, std::vector<unsigned> &words)
{
	words.push_back(terms.size());
	for (const term &item : terms)
		words.push_back(item.value << 1 | item.negative);
}

void add_parts(const function_counts &item, bool for_layout, std::vector<unsigned> &words)
{
	const size_t place = words.size();

	words.push_back(0);
	for (const contribution &part : item.contributions) {
		const named_block &block = named_blocks()[part.first];

		if (named_functions()[block.function].for_layout != for_layout)
			continue;
		words[place]++;
		words.push_back(part.first);
		add_sum(part.second, words);
	}
}

void emit_counts(const function_counts &item, unsigned first)
{
	std::vector<unsigned> words = {first, item.counters, (unsigned)item.derived.size()};

	for (const sum &terms : item.derived)
		add_sum(terms, words);
	add_parts(item, false, words);
	add_parts(item, true, words);
	emit_word(words.size());
	for (unsigned word : words)
		emit_word(word);
}

void emit_compiled()
{
	unsigned first = 0;

	emit_word(compiled.size());
	for (const function_counts &item : compiled) {
		emit_counts(item, first);
		first += item.counters;
	}
}

/* The linker drops it with the unit, or keeps it because of the unit's row. */
void emit_rows(bool fast)
{
	fprintf(asm_out_file,
		"\t.section\tkadence_units,\"aw\",@progbits\n"
		"\t.balign\t8\n"
		"\t.quad\t.Lkadence_place\n"
		"\t.quad\t.Lkadence_words\n"
		"\t.quad\t.Lkadence_texts\n"
		"\t.quad\tkadence_module\n"
		"\t.long\t%u, %u, %u, 0\n",
		counters, tables_version, fast ? flag_fast : 0);
}

/* A function that returns the array's address. In a shared library, data cannot tell it. */
void emit_place()
{
	fprintf(asm_out_file,
		"\t.text\n"
		".Lkadence_place:\n"
		"\tmovq\t%s@gottpoff(%%rip), %%rax\n"
		"\tret\n",
		counters_name);
}

void emit_array()
{
	fprintf(asm_out_file,
		"\t.section\t.tbss,\"awT\",@nobits\n"
		"\t.balign\t64\n"
		"\t.type\t%s, @object\n"
		"\t.size\t%s, %u\n"
		"%s:\n"
		"\t.zero\t%u\n",
		counters_name, counters_name, 8 * counters, counters_name, 8 * counters);
}

} // namespace

unsigned first_free_counter()
{
	return counters;
}

void add_function_counts(function_counts counts)
{
	counters += counts.counters;
	compiled.push_back(std::move(counts));
}

void emit_count_tables(bool fast)
{
	text_table texts;

	if (!asm_out_file || compiled.empty() || seen_error())
		return;
	fputs(
	    "\t.section\t.rodata.kadence_counts,\"a\",@progbits\n\t.balign\t4\n.Lkadence_words:\n",
	    asm_out_file);
	emit_function_names(texts);
	emit_block_names();
	emit_compiled();
	texts.emit();
	emit_array();
	emit_place();
	emit_rows(fast);
}

} // namespace kadence
