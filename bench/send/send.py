# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures Figure 3 of the application-specific Linux paper: total send time by the size of a send.

A loop sends consecutive pieces of a buffer over TCP to a process that reads and discards them, in
three sizes of transfer. The plain program runs the loop; in the adapted one the compiler turned the
loop into one call, a batch. The bench reports how much less time the batch takes than the kernel's
own sends. Plain and adapted runs alternate, and each figure is the median of its rounds.
"""

import argparse
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.base import tailored
from bench.base.rows import MISSED
from bench.io import io_needs
from bench.io.io_places import LIBRARIES
from bench.send import send_picture
from kadence import boot
from kadence.base import resources
from kadence.base.errors import GuestError, KadenceError
from kadence.boot import qemu
from kadence.kconfig.store.build import BuildRequest, build
from kadence.lab import Guest, bare
from kadence.lab.guest import X86_64

MAKES = ("plain", "batch")
SIZES = tuple(1 << power for power in range(6, 17))
MEBIBYTE = 1 << 20
# The paper's 5, 10 and 20 GB, scaled down so that the bench takes minutes.
UML_TRANSFERS = tuple(MEBIBYTE * count for count in (16, 32, 64))
LAB_TRANSFERS = tuple(MEBIBYTE * count for count in (8, 16, 32))
MACHINE_TRANSFERS = tuple(MEBIBYTE * count for count in (128, 256, 512))
# The goals: percent less time, on User-Mode Linux as in the paper.
LEAST_LESS = {size: 70.0 for size in SIZES if size <= 4096} | {65536: 10.0}
# A transfer of twice the size takes twice the time, within this share.
LINEAR = 0.15

Key = tuple[str, int, int]  # make, size of a send, bytes of the transfer
Times = Mapping[Key, Sequence[int]]  # nanoseconds


@dataclass(frozen=True)
class Series:
    """All transfers at one place."""

    name: str
    transfers: Sequence[int]
    times: Times
    has_goals: bool = False
    title: str = ""  # in the picture

    def median(self, make: str, size: int, transfer: int) -> float:
        return statistics.median(self.times[make, size, transfer])

    def less(self, make: str, size: int, transfer: int) -> float:
        """Returns how many percent less time it took than the kernel's own sends."""
        plain = self.median("plain", size, transfer)
        return 100 * (1 - self.median(make, size, transfer) / plain)

    def spread(self, make: str, size: int, transfer: int) -> float:
        """Returns half the difference of the highest and the lowest round, in percent."""
        times = self.times[make, size, transfer]
        return 50 * (max(times) - min(times)) / statistics.median(times)


def script(folder: str, transfers: Sequence[int], rounds: int) -> str:
    """Returns a shell command for all transfers, plain and adapted in turn."""
    return (
        f"for round in $(seq {rounds}); do for size in {' '.join(map(str, SIZES))}; "
        f"do for bytes in {' '.join(map(str, transfers))}; do for make in {' '.join(MAKES)}; "
        f"do {folder}/send-$make $size $bytes || exit 1; done; done; done; done"
    )


def read(name: str, text: str) -> Times:
    """Parse the lines of the senders."""
    times: dict[Key, list[int]] = defaultdict(list)
    for line in text.splitlines():
        words = line.split()
        if len(words) != 4 or words[0] not in MAKES:
            raise GuestError(f"cannot parse the output of a sender on {name}: {line}")
        times[words[0], int(words[1]), int(words[2])].append(int(words[3]))
    return times


def senders() -> dict[str, Path]:
    """Returns the programs by their names in a bare guest."""
    return {f"bin/send-{make}": resources.built(f"bench/send/send-{make}") for make in MAKES}


def in_user_mode(rounds: int) -> Series:
    """Measure on User-Mode Linux."""
    kernel = build(BuildRequest())
    name = f"User-Mode Linux {kernel.id}"
    folder = shlex.quote(str(resources.built("bench/send/send-plain").parent))
    with tempfile.TemporaryFile() as output:
        request = boot.Request(
            image=kernel.image,
            argv=["sh", "-c", script(folder, UML_TRANSFERS, rounds)],
            stdout=output.fileno(),
            hang_timeout_seconds=600.0,
        )
        result = boot.run(request)
        output.seek(0)
        text = output.read().decode()
    if result.status or boot.complaints(result.log):
        raise GuestError(f"{name}: status {result.status}; {boot.complaints(result.log)}")
    return Series(name, UML_TRANSFERS, read(name, text), True, "User-Mode Linux")


def in_the_lab(rounds: int) -> Series:
    """Measure in the lab, where a nanosecond is an instruction."""
    kernel = tailored.kernel("io", io_needs.NEEDS, X86_64, io_needs.OVERRIDES)
    guest = Guest(f"the lab, tailored {kernel.id}", kernel.image)
    files = {**senders(), **{str(path): path for path in LIBRARIES}, "bin/busybox": qemu.BUSYBOX}
    words = ["/bin/busybox", "sh", "-c"]
    shell = "/bin/busybox --install -s /bin; export PATH=/bin; "
    ending = bare.run(guest, [*words, shell + script("/bin", LAB_TRANSFERS, rounds)], files)
    lines = [line for line in ending.lines if line.split()[0] in MAKES]
    if ending.status or boot.complaints(ending.log):
        raise GuestError(f"{guest.name}: status {ending.status}: {' '.join(ending.lines)[-300:]}")
    times = read(guest.name, "\n".join(lines))
    return Series(guest.name, LAB_TRANSFERS, times, title="the lab")


def on_the_machine(rounds: int) -> Series:
    """Measure on this machine's own kernel, without a device."""
    name = "this machine's own kernel"
    folder = shlex.quote(str(resources.built("bench/send/send-plain").parent))
    command = ["sh", "-c", script(folder, MACHINE_TRANSFERS, rounds)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise GuestError(f"a sender on {name} failed: {done.stderr.strip()}")
    return Series(name, MACHINE_TRANSFERS, read(name, done.stdout))


def verdict(series: Series, size: int, less: float) -> str:
    """Says whether the largest transfer reached its goal."""
    least = LEAST_LESS.get(size)
    if least is None or not series.has_goals:
        return ""
    return f">= {least:.0f} %  {'met' if less >= least else MISSED}"


def lines_of(series: Series) -> Iterator[str]:
    """Yields a line for each size: time of the largest transfer, and percent less for each."""
    sizes = [f"{transfer // MEBIBYTE} MiB" for transfer in series.transfers]
    largest = series.transfers[-1]
    yield f"{series.name}: {len(series.times['plain', SIZES[0], largest])} rounds"
    head = [f"batch, {size}, % less" for size in sizes]
    columns = [f"plain, {sizes[-1]}, ms", *head, "goal"]
    widths = [max(len(title), 14) for title in columns]
    yield "  ".join(["  send", *(f"{t:>{w}}" for t, w in zip(columns, widths, strict=True))])
    for size in SIZES:
        plain = f"{series.median('plain', size, largest) / 1e6:,.1f}"
        plain += f" +-{series.spread('plain', size, largest):.0f} %"
        less = [series.less("batch", size, transfer) for transfer in series.transfers]
        cells = [plain, *(f"{value:.1f}" for value in less), verdict(series, size, less[-1])]
        padded = (f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        yield "  ".join([f"{size:>6}", *padded]).rstrip()
    yield linear(series)
    yield ""


def linear(series: Series) -> str:
    """Says at which sizes of a send a transfer of twice the size takes twice the time."""
    told = []
    for make in ("plain", "batch"):
        far = {size: deviation(series, make, size) for size in SIZES}
        others = [f"{size} ({far[size]:.0%})" for size in SIZES if far[size] > LINEAR]
        kept = f"{make} at {len(SIZES) - len(others)} of {len(SIZES)} sizes"
        told.append(kept + (f", not at {', '.join(others)}" if others else ""))
    return f"Linear in the size of the transfer within {LINEAR:.0%}: {'; '.join(told)}."


def deviation(series: Series, make: str, size: int) -> float:
    """Returns the largest deviation from a line through zero and the largest transfer."""
    largest = series.transfers[-1]
    slope = series.median(make, size, largest) / largest
    return max(
        abs(series.median(make, size, transfer) / (slope * transfer) - 1)
        for transfer in series.transfers
    )


def main() -> int:
    """Measure, print each line as soon as it is known, keep the output and draw it."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="of each transfer (default: 5)")
    rounds = parser.parse_args().rounds
    if rounds < 1:
        parser.error("--rounds must be at least 1")
    printed: list[str] = []
    found: list[Series] = []
    for take in (in_user_mode, in_the_lab, on_the_machine):
        found.append(take(rounds))
        for line in lines_of(found[-1]):
            print(line, flush=True)
            printed.append(line)
    keep(printed, found)
    return 0


def keep(printed: Sequence[str], found: Sequence[Series]) -> None:
    """Write tables, figures and the picture to build/bench/."""
    folder = resources.home() / "build" / "bench"
    (folder / "send.txt").write_text("\n".join(printed) + "\n", encoding="utf-8")
    figures = {
        series.name: [[*key, list(times)] for key, times in series.times.items()]
        for series in found
    }
    (folder / "send.json").write_text(json.dumps(figures) + "\n", encoding="utf-8")
    curves = [
        send_picture.Curve(
            f"{series.title}, {transfer // MEBIBYTE} MiB",
            [series.less("batch", size, transfer) for size in SIZES],
        )
        for series in found
        if series.title
        for transfer in series.transfers
    ]
    send_picture.draw(SIZES, curves, folder / "send.png")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KadenceError as error:
        sys.exit(f"bench-send: {error}")
