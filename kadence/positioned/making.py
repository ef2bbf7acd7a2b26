# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence live layout`: copies the code of a kernel that is hot while a command runs.

1. Debian's kernel runs the command in the lab, and a plugin of QEMU counts its blocks.
2. The machine code of the hot blocks becomes a module.
3. The kernel runs the command with the module, which shows what was gained.
"""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kadence.base.errors import UsageError
from kadence.base.terminal import tell
from kadence.kadapt.live.source import NAME
from kadence.kconfig.layout.artefact import Footprint
from kadence.kernel.counting import not_worth_it, table
from kadence.kernel.footprint import footprint
from kadence.live.build import Built
from kadence.positioned import module
from kadence.positioned.counting import Kernel, count, kernel_of
from kadence.positioned.layout import Layout, lay_out

SERIES = "6.12"  # whose layouts of tables image.py knows


@dataclass(frozen=True)
class Made:
    """A module and what it gains, or why there is none."""

    before: Footprint
    not_worth_it: str | None = None
    built: Built | None = None
    layout: Layout | None = None
    after: Footprint | None = None


def check_name(output: Path) -> None:
    """Raise UsageError if no module can be written here."""
    if output.suffix != ".ko" or not NAME.fullmatch(output.stem):
        raise UsageError(
            f"{output} can't be a module's file; name it with small letters, digits and "
            "underscores, and .ko at its end"
        )
    if not output.parent.is_dir():
        raise UsageError(f"there is no folder {output.parent}; name another file with -o")


def check_release(release: str) -> None:
    """Raise UsageError if the tables of this kernel's image are not known."""
    if not release.startswith(f"{SERIES}."):
        raise UsageError(
            f"code of {release} can't be copied; only that of Debian's kernels of series {SERIES} "
            "can"
        )


def make(release: str, argv: Sequence[str], output: Path) -> Made:
    """Make the module for this command and write it, if that is worth it."""
    check_name(output)
    check_release(release)
    kernel = kernel_of(release)
    counted = count(release, argv, stand_in=True)
    before = footprint(counted, kernel.functions())
    reason = not_worth_it(before)
    if reason is not None:
        return Made(before, reason)
    layout = lay_out(kernel, counted)
    tell(f"copying {layout.bytes:,} bytes of {len(layout.functions)} functions …")
    built = module.build(output.stem, kernel.image, layout, release)
    after = _with_module(kernel, argv, built, output.name)
    built.write(output)
    return Made(before, None, built, layout, after)


def _with_module(kernel: Kernel, argv: Sequence[str], built: Built, name: str) -> Footprint:
    """The footprint with the module, which is written only where it did no harm."""
    with tempfile.TemporaryDirectory(prefix="kadence-positioned-") as folder:
        place = Path(folder) / name
        built.write(place)
        counted = count(kernel.release, argv, [place], stand_in=True)
    return footprint(counted, kernel.functions())


def summary(made: Made, output: Path, release: str) -> str:
    """What was made, for a person."""
    if made.built is None or made.layout is None or made.after is None:
        return f"not worth it: {made.not_worth_it}"
    functions = made.layout.functions
    told = f"{output}: for {release}; copies {made.layout.bytes:,} bytes of {len(functions)} "
    told += f"functions, which begin in place of: {', '.join(made.built.replaced)}"
    return f"{told}\n{table(made.before, made.after)}"
