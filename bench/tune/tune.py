# SPDX-License-Identifier: GPL-2.0-or-later
"""Tunes programs, prints their results, and compares predictions with what was measured.

    tune.py PROGRAM... -- OPTION...

PROGRAM is a folder of examples/ or of bench/corpus/, and OPTION an option of `kadence tune`.
"""

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.base.keeping import print_and_keep
from kadence.base import artefact, resources
from kadence.base.errors import KadenceError, ToolError
from kadence.tune import result

FOLDERS = ("examples", "bench/corpus")
SEPARATOR = "--"


def folder_of(name: str) -> Path:
    """Returns the folder of a program."""
    for folder in FOLDERS:
        found = resources.home() / folder / name
        if found.is_dir():
            return found
    raise ToolError(f"there is no program {name} in {' or '.join(FOLDERS)}")


def tuned(name: str, options: Sequence[str]) -> dict[str, Any]:
    """Runs `kadence tune` on a program; its progress goes to stderr."""
    output = resources.home() / "build" / "bench" / "tune" / name
    output.mkdir(parents=True, exist_ok=True)
    (output / ".stages").mkdir(exist_ok=True)
    words = [sys.executable, "-m", "kadence.cli", "tune", str(folder_of(name)), "-o", str(output)]
    status = subprocess.run(
        [*words, *options], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL, check=False
    ).returncode
    if status:
        raise ToolError(f"`kadence tune` of {name} ended with status {status}")
    (place,) = output.glob("*.tune.json")
    return artefact.read(place, artefact.TUNE)


def told(names: Sequence[str], options: Sequence[str]) -> Iterator[str]:
    """Yields the results of all programs, and the errors of the predictions."""
    errors = []
    for name in names:
        try:
            document = tuned(name, options)
        except KadenceError as error:
            yield f"{name}: {error}"
            continue
        yield f"==== {name}: {' '.join(document['program']['run'])}"
        yield document["cost"]
        yield f"{document['spent_seconds']:.0f} s, {document['rounds']} rounds"
        yield result.table(document).replace(f"{resources.home()}/", "")
        yield ""
        errors += list(_errors(name, document))
    if errors:
        yield from _judged(errors)


def _errors(name: str, document: Mapping[str, Any]) -> Iterator[tuple[str, float, bool]]:
    """Yields measured/predicted of each candidate that was raced, and if both intervals meet."""
    for row in document["candidates"]:
        if row["predicted"] and row["raced"]:
            found, foretold = row["raced"], row["predicted"]
            high = float("inf") if found["high"] is None else found["high"]
            meet = found["low"] <= foretold["high"] and foretold["low"] <= high
            yield f"{name} {row['name']}", found["value"] / foretold["ratio"], meet


def _judged(errors: Sequence[tuple[str, float, bool]]) -> Iterator[str]:
    ordered = sorted(ratio for _, ratio, _ in errors)
    inside = sum(held for _, _, held in errors)
    yield (
        f"{len(errors)} predictions: measured/predicted is {ordered[0]:.2f} to {ordered[-1]:.2f}, "
        f"{ordered[len(ordered) // 2]:.2f} in the median; of {inside} the "
        "error meets the measured interval"
    )
    for what, ratio, held in errors:
        if not held:
            yield f"    not {what}: {ratio:.2f}"


def main(arguments: Sequence[str]) -> int:
    """Tune the programs that are named before `--`."""
    where = arguments.index(SEPARATOR) if SEPARATOR in arguments else len(arguments)
    print_and_keep(told(arguments[:where], arguments[where + 1 :]), "tune.txt")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
