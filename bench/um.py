# SPDX-License-Identifier: GPL-2.0-or-later
"""What a User-Mode Linux kernel takes: its image, its boot, its memory, its build."""

import os
import statistics
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rows import Goal, Row

from kadence import boot, resources
from kadence.errors import GuestError
from kadence.kconfig import store
from kadence.kconfig.build import BuildRequest, build
from kadence.kconfig.store import Kernel
from kadence.lab import figures

BOOTS = 5
MEMORY_BYTES = 1 << 30
MEGABYTE, MEBIBYTE = 1e6, 1 << 20
MEMORY = ("memory_used", "memory_not_free")


def rows(generic: Kernel, tailored: Kernel) -> Iterator[Row]:
    """The lines of one program's table."""
    before, after = image_megabytes(generic), image_megabytes(tailored)
    yield Row("UML image, stripped, MB", before, after, Goal(most=3), digits=2)
    before, after = boot_seconds(generic), boot_seconds(tailored)
    yield Row("UML boot to the first program, s", before, after, Goal(most=0.1), digits=3)
    used, used_after = memory(generic), memory(tailored)
    for name, label in zip(MEMORY, ("not available", "not free"), strict=True):
        goal = Goal(share=1 / 2)
        yield Row(f"UML memory {label}, MiB", used[name], used_after[name], goal, digits=1)


def build_rows(request: BuildRequest) -> Iterator[Row]:
    """A cold and a warm build, in a store and a compiler cache of their own."""
    with _empty_cache():
        cold = build(request)
        store.remove(cold.id)
        warm = build(request)
    seconds = [float(kernel.manifest["build_seconds"]) for kernel in (cold, warm)]
    yield Row("UML build, cold, s", None, seconds[0], Goal(most=150))
    yield Row("UML build, warm, s", None, seconds[1], Goal(most=45))


@contextmanager
def _empty_cache() -> Iterator[None]:
    """A cache directory that has the kernels' sources and nothing else."""
    sources = resources.cache_directory() / "sources"
    saved = dict(os.environ)
    with tempfile.TemporaryDirectory(dir=resources.cache_directory().parent) as folder:
        (Path(folder) / "kernels").mkdir()
        (Path(folder) / "sources").symlink_to(sources)
        os.environ |= {"KADENCE_CACHE": folder, "CCACHE_DIR": f"{folder}/ccache"}
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(saved)


def image_megabytes(kernel: Kernel) -> float:
    """Of the stored image, which is stripped."""
    return kernel.image.stat().st_size / MEGABYTE


def boot_seconds(kernel: Kernel) -> float:
    """Median of some boots, by the host's clock."""
    return statistics.median(_run(kernel, ["true"])[0].boot_seconds for _ in range(BOOTS))


def memory(kernel: Kernel) -> dict[str, float]:
    """Mebibytes in use when the first program starts."""
    program = str(resources.built("bench/lab/lab"))
    _, text = _run(kernel, [program, "-m", str(MEMORY_BYTES), *MEMORY])
    _, found = figures.read(text)
    return {name: (figure.median or 0.0) / MEBIBYTE for name, figure in found.items()}


def _run(kernel: Kernel, argv: list[str]) -> tuple[boot.Result, str]:
    with tempfile.TemporaryFile() as output, Path(os.devnull).open("rb") as nothing:
        result = boot.run(
            boot.Request(
                image=kernel.image,
                argv=argv,
                memory_bytes=MEMORY_BYTES,
                stdin=nothing.fileno(),
                stdout=output.fileno(),
            )
        )
        if result.status:
            raise GuestError(f"{argv[0]} ended with status {result.status} on kernel {kernel.id}")
        output.seek(0)
        return result, output.read().decode(errors="replace")
