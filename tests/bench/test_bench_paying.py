# SPDX-License-Identifier: GPL-2.0-or-later
"""`make bench-paying`: its programs are in the corpus; its table says what was measured."""

import json
from pathlib import Path

import pytest

from bench.io import paying
from kadence.program import program


@pytest.mark.parametrize("name", paying.INPUTS)
def test_programs_are_of_the_corpus(root: Path, name: str) -> None:
    described = program.read(root / "bench" / "corpus" / name)
    read = [described.validate_input] if described.validate_input else []
    assert described.name == name
    assert {*read} <= {*paying.INPUTS[name]}
    assert {*paying.INPUTS[name]} & {*described.validate, *read}


def test_a_row_says_what_was_measured() -> None:
    assert paying.told("cpio", 4_000_000, 3_000_000, 1234, is_same=True) == (
        *("cpio", "4.00", "3.00", "0.7500", "1,234", "same"),
    )
    assert paying.told("dash", 1, 1, None, is_same=False)[-2:] == ("-", "DIFFERS")


def test_appends_of_all_processes_count(tmp_path: Path) -> None:
    counters = tmp_path / "counters"
    assert paying.appends(counters) is None
    counters.write_text("".join(f"{json.dumps(line)}\n" for line in ({"io": {"appends": 3}}, {})))
    assert paying.appends(counters) == 3
