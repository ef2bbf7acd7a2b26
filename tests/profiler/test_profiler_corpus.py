# SPDX-License-Identifier: GPL-2.0-or-later
"""Replays the inputs kept from `make fuzz`: each is read, or refused in one sentence."""

from pathlib import Path

import fuzzed_readers
import pytest

CORPUS = Path(__file__).parent / "corpus"


@pytest.mark.parametrize("kind", fuzzed_readers.KINDS)
def test_every_input_is_read_or_refused(kind: str, tmp_path: Path) -> None:
    inputs = sorted((CORPUS / kind).iterdir())
    assert inputs
    for file in inputs:
        try:
            fuzzed_readers.check(kind, file.read_bytes(), tmp_path)
        except Exception as error:
            raise AssertionError(f"{file} was neither read nor refused") from error
