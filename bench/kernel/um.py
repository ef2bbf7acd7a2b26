# SPDX-License-Identifier: GPL-2.0-or-later
"""Measures the costs of a User-Mode Linux kernel: its image, its boot, its memory, its build."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.base.rows import Goal, Row
from kadence.base import resources
from kadence.kconfig.store import store
from kadence.kconfig.store.build import BuildRequest, build
from kadence.kconfig.store.store import Kernel
from kadence.kernel.kernel_figures import MEMORY, boot_seconds, memory

MEGABYTE, MEBIBYTE = 1e6, 1 << 20


def rows(generic: Kernel, tailored: Kernel) -> Iterator[Row]:
    """Yields the rows of one program's table."""
    before, after = image_megabytes(generic), image_megabytes(tailored)
    yield Row("UML image, stripped, MB", before, after, Goal(most=3), digits=2)
    before, after = boot_seconds(generic), boot_seconds(tailored)
    yield Row("UML boot to the first program, s", before, after, Goal(most=0.1), digits=3)
    used, used_after = memory(generic), memory(tailored)
    for name, label in zip(MEMORY, ("not available", "not free"), strict=True):
        goal = Goal(share=1 / 2)
        before, after = used[name] / MEBIBYTE, used_after[name] / MEBIBYTE
        yield Row(f"UML memory {label}, MiB", before, after, goal, digits=1)


def build_rows(request: BuildRequest) -> Iterator[Row]:
    """Yields rows of a cold and a warm build, with a separate kernel store and compiler cache."""
    with _empty_cache():
        cold = build(request)
        store.remove(cold.id)
        warm = build(request)
    seconds = [float(kernel.manifest["build_seconds"]) for kernel in (cold, warm)]
    yield Row("UML build, cold, s", None, seconds[0], Goal(most=150))
    yield Row("UML build, warm, s", None, seconds[1], Goal(most=45))


@contextmanager
def _empty_cache() -> Iterator[None]:
    """Use a cache directory that has only the kernels' sources."""
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
    """Returns the size of the stored image, which is stripped."""
    return kernel.image.stat().st_size / MEGABYTE
