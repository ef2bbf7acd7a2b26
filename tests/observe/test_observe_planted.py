# SPDX-License-Identifier: GPL-2.0-or-later
"""The walk, in a kernel that was made slow on purpose: by a function, an option or a mount flag."""

import re
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from kadence import boot
from kadence.boot import debian, qemu
from kadence.lab import calls
from kadence.live.kernel import kallsyms_of
from kadence.observe import advice, paths, walk

pytestmark = pytest.mark.kernel
HERE = Path(__file__).resolve().parent / "programs/planted"
CASE = re.compile(r"^case (\d+) (.*)$", re.MULTILINE)
SYMBOL = re.compile(r"^[0-9a-f]{16} [tT] planted_\w+\t\[planted\]$", re.MULTILINE)
# Few places for names and mounts, and a cache of files that checks its objects.
SLOW = ("dhash_entries=16", "mhash_entries=2", "slub_debug=FZP,filp")
SCRIPT = """
insmod /planted.ko || exit 91
grep planted_ /proc/kallsyms
mkdir /large /mounts
mount -t tmpfs -o huge=always none /large || exit 94
"""
# What the walk may name at its bottom.
BOTTOMS = {
    "sleep": {"planted_sleep"},
    "spin": {"planted_spin"},
    "search": {"planted_search"},
    "clear": {"planted_clear"},
    "mutex": {"planted_mutual_exclusion"},
    "readers": {"planted_readers"},
    "completion": {"planted_completion"},
    "checksum": {"planted_checksum"},
    # mm/slub.c calls them for a cache that was named in slub_debug= only.
    "objects": {"free_to_partial_list", "check_object", "init_object", "memchr_inv"},
    "large": {"clear_page_erms", "clear_page_rep", "clear_page_orig"},
    "mounts": {"__lookup_mnt"},
    "names": {"__d_lookup_rcu", "__d_lookup"},
}


@dataclass(frozen=True)
class Planted:
    """What one guest's kernel did for all programs of main.c."""

    lines: Sequence[str]
    numbers: dict[str, int]

    def command(self, name: str) -> paths.Path:
        """What was done for a program."""
        return paths.read(self.lines, self.numbers[name] + 1).command


@pytest.fixture(scope="module")
def planted(module_of: Callable[[Path], Path], tmp_path_factory: pytest.TempPathFactory) -> Planted:
    folder = tmp_path_factory.mktemp("planted")
    program = folder / "planted"
    flags = ("-O2", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-static")
    subprocess.run(["gcc-12", *flags, "-o", program, HERE / "main.c"], check=True)
    release = debian.newest_release("6.12")
    files = {"planted.ko": module_of(HERE / "planted.c"), "planted": program}

    def run(script: str, *options: str) -> str:
        arguments = ["quiet", calls.KERNEL_ARGUMENT, *SLOW]
        image = debian.kernel_image(release)
        machine = qemu.Machine(image, 1024, options=options, kernel_arguments=arguments)
        outcome = qemu.run_script(machine, SCRIPT + script, files)
        assert not outcome.status, outcome.console
        assert boot.complaints(outcome.console) == [], outcome.console
        return outcome.console

    # Without randomisation the module is at the same place in each run.
    found = [line.split("\t")[0] for line in SYMBOL.findall(run("true"))]
    assert len(found) > len([name for name in BOTTOMS if "planted" in "".join(BOTTOMS[name])])
    symbols = [*kallsyms_of(release), *found]
    console = run("sleep 3; /planted /large", *calls.options(folder, symbols, paths=True))
    lines = (folder / calls.PATHS).read_text(encoding="ascii").splitlines()
    return Planted(lines, {name: int(number) for number, name in CASE.findall(console)})


@pytest.mark.parametrize("name", BOTTOMS)
def test_the_walk_ends_at_the_planted_cause(planted: Planted, name: str) -> None:
    command = planted.command(name)
    assert walk.bottom(command).function in BOTTOMS[name], list(walk.lines(command))


def test_names_that_collide_are_told(planted: Planted) -> None:
    rows = advice.read()
    found = {name: advice.fitting(planted.command(name), rows) for name in ("names", "mutex")}
    told = {name: [row.name for row, _ in fits] for name, fits in found.items()}
    assert "names collide in the cache" in told["names"]
    assert "names collide in the cache" not in told["mutex"]
