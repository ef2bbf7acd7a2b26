# SPDX-License-Identifier: GPL-2.0-or-later
"""Adds the inputs that fuzzing found to the corpus; `make fuzz-corpus`.

It tries all inputs, small ones first. It adds an input if the readers step from one line of code
to another that no earlier input led to.

usage: fuzz_corpus.py INPUTS CORPUS KIND
"""

import shutil
import sys
from pathlib import Path
from types import FrameType
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import fuzzed_readers  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent.parent
READERS = tuple(f"{ROOT}/{part}/" for part in ("profiler", "kadence/trials", "base"))
Step = tuple[str, int, int]


def steps(kind: str, data: bytes) -> set[Step]:
    """The steps that the readers take on this input: file, line before, line after."""
    found: set[Step] = set()
    last: dict[FrameType, int] = {}

    def trace(frame: FrameType, event: str, _argument: Any) -> Any:
        name = frame.f_code.co_filename
        if not name.startswith(READERS):
            return None
        if event == "line":
            found.add((name, last.get(frame, 0), frame.f_lineno))
            last[frame] = frame.f_lineno
        return trace

    sys.settrace(trace)
    try:
        fuzzed_readers.check(kind, data)
    finally:
        sys.settrace(None)
    return found


def main() -> None:
    """Adds files to the corpus and removes none."""
    inputs, corpus, kind = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    corpus.mkdir(parents=True, exist_ok=True)
    known: set[Step] = set()
    for file in corpus.iterdir():
        known |= steps(kind, file.read_bytes())
    for file in sorted(inputs.iterdir(), key=lambda file: (file.stat().st_size, file.name)):
        if not file.name.startswith("seed") and (new := steps(kind, file.read_bytes()) - known):
            known |= new
            shutil.copy(file, corpus)


if __name__ == "__main__":
    main()
