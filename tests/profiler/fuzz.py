# SPDX-License-Identifier: GPL-2.0-or-later
"""Coverage-guided fuzzing of the readers of profiles and trials, by Atheris: `make fuzz`.

usage: fuzz.py KIND FOLDER [libFuzzer's options and further folders]

Instruments the readers as they are imported. It begins with inputs that today's code writes and
with the files in the folders. An input that is neither read nor refused in one sentence ends the
run, and is left as a file in FOLDER. Inputs that reach new code go to FOLDER as well.
"""

import json
import os
import re
import sys
import tempfile
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parent))

with atheris.instrument_imports(include=["kadence"]):
    import fuzzed_readers

import planted_records
import stream_frames
import test_profiler_import
import test_profiler_kprof

from kadence.base import artefact
from kadence.profiler import kprof

SCRATCH = Path("/dev/shm")


def seeds() -> dict[str, list[bytes]]:
    """Inputs as today's code writes them, by kind."""
    found: dict[str, list[bytes]] = {kind: [] for kind in fuzzed_readers.KINDS}
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "P.kprof"
        for make in test_profiler_kprof.EXAMPLES:
            kprof.write(file, make())
            found["file"].append(file.read_bytes())
            kprof.write_ranks(file, [make(), make()])
            found["file"].append(file.read_bytes())
    for table in range(len(kprof.MEMBERS) - 1):
        change = fuzzed_readers.CHANGE.pack(table, 0, 0, 0, 1)
        found["columns"].append(change)
        found["ranks"].append(change)
    for stream in stream_frames.all_kinds():
        found["stream"].append(fuzzed_readers.stream_input(stream))
        found["file"].append(stream)
    found["records"], found["learned"] = trial_seeds()
    found["vectors"] += [text.encode("ascii") for text in test_profiler_import.FORMS]
    return found


def trial_seeds() -> tuple[list[bytes], list[bytes]]:
    """Records, and the trials of a plan that has learned."""
    record = planted_records.planted(-0.03, 4).decision("helps").content
    with tempfile.TemporaryDirectory() as name:
        plan = planted_records.write_plan(Path(name) / "plan")
        plain = json.dumps(artefact.read(plan, artefact.PLAN)["trials"])
        fuzzed_readers.learn(plan)
        learned = json.dumps(artefact.read(plan, artefact.PLAN)["trials"])
    unsummed = re.sub(rb', "sum": "[0-9a-f]*"', b"", record)
    return [record, unsummed, unsummed[:-9]], [plain.encode(), learned.encode()]


def main() -> None:
    """Never returns: libFuzzer ends the process."""
    kind, folder, *others = sys.argv[1:]
    inputs = Path(folder) / "inputs"
    inputs.mkdir(parents=True, exist_ok=True)
    for number, seed in enumerate(seeds()[kind]):
        (inputs / f"seed{number}").write_bytes(seed)
    others = [os.path.abspath(one) if Path(one).is_dir() else one for one in others]  # noqa: PTH100
    os.chdir(folder)

    def one_input(data: bytes) -> None:
        fuzzed_readers.check(kind, data, SCRATCH)

    atheris.Setup([sys.argv[0], "inputs", *others], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
