# SPDX-License-Identifier: GPL-2.0-or-later
"""Public programs with their own build systems, from Debian's sources, through the wrappers."""

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / "build/bin"
TOOLCHAINS = ROOT / "gccplugin/toolchains"
Kadence = Callable[..., "subprocess.CompletedProcess[str]"]


class Package:
    """A folder, in which commands run with the wrappers on PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def fetch(self, name: str, version: str) -> "Package":
        """Put a source of Debian's into the folder `source`."""
        self.run(str(ROOT / "bench/corpus/fetch"), name, version)
        return self

    def run(self, *words: str, **settings: str) -> str:
        environment = {name: value for name, value in os.environ.items() if name != "CC"}
        environment["PATH"] = f"{BIN}:{os.environ['PATH']}"
        done = subprocess.run(
            words,
            cwd=self.folder,
            env=environment | settings,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        return done.stdout

    def holds_shapes(self, program: str) -> bool:
        return ".kadence.cfg" in self.run("readelf", "-SW", program)


@pytest.fixture
def package(tmp_path: Path) -> Callable[[str, str], Package]:
    return Package(tmp_path).fetch


def commands_of(package: Package, folder: str) -> list[dict[str, str]]:
    """compile_commands.json, as if the folder were called `built`."""
    text = (package.folder / folder / "compile_commands.json").read_text()
    found: list[dict[str, str]] = json.loads(text.replace(f"/{folder}", "/built"))
    return found


def cmake(package: Package, folder: str, *words: str, **settings: str) -> None:
    more = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON"]
    package.run("cmake", "-S", "source", "-B", folder, *more, *words, **settings)
    package.run("make", "-j2", "-C", folder, **settings)


def plan_of(kadence: Kadence, package: Package, program: str, *words: str) -> Path:
    """What profiling the program on these words finds."""
    places = [package.folder / f"P.{kind}" for kind in ("kprof", "phases.json", "plan.json")]
    profile, phases, plan = places
    for command in (
        ("profile", "-o", profile, "--", package.folder / program, *words),
        ("phases", profile, "-o", phases),
        ("plan", phases, "-o", plan),
    ):
        done = kadence(*command, cwd=package.folder)
        assert done.returncode == 0, done.stderr
    return plan


def test_cmake_builds_an_adapted_program(
    package: Callable[[str, str], Package], kadence: Kadence
) -> None:
    cmark = package("cmark", "0.30.2-6")
    text = cmark.folder / "text.md"
    text.write_text("".join(f"# {n}\n\n*a* `b` [c](d)\n\n> - e\n" for n in range(20_000)))
    toolchain = f"-DCMAKE_TOOLCHAIN_FILE={TOOLCHAINS}/kadence.cmake"
    cmake(cmark, "plain")
    cmake(cmark, "shaped", toolchain)
    assert cmark.holds_shapes("shaped/src/cmark")
    plan = plan_of(kadence, cmark, "shaped/src/cmark", str(text))
    cmake(cmark, "adapted", toolchain, KADENCE_PLAN=str(plan))
    assert "kadapt_phase_enter" in cmark.run("nm", "adapted/src/cmark")
    expected = cmark.run("plain/src/cmark", str(text))
    assert len(expected) > 1 << 20
    assert cmark.run("adapted/src/cmark", str(text)) == expected
    assert commands_of(cmark, "adapted") == commands_of(cmark, "plain")


def meson(package: Package, folder: str, *words: str, **settings: str) -> None:
    package.run("meson", "setup", *words, "source", folder, **settings)
    package.run("ninja", "-C", folder, **settings)


def test_meson_builds_with_its_native_file_and_with_other_names(
    package: Callable[[str, str], Package],
) -> None:
    fribidi = package("fribidi", "1.0.8-2.1")
    meson(fribidi, "plain")
    meson(fribidi, "native", "--native-file", str(TOOLCHAINS / "kadence.ini"))
    meson(fribidi, "named", PATH=f"{BIN}/as-gcc:{os.environ['PATH']}")
    expected = fribidi.run("plain/bin/fribidi", "--version")
    for folder in ("native", "named"):
        assert fribidi.holds_shapes(f"{folder}/bin/fribidi")
        assert fribidi.run(f"{folder}/bin/fribidi", "--version") == expected
    assert commands_of(fribidi, "named") == commands_of(fribidi, "plain")


def test_autotools_build_with_their_site_file(package: Callable[[str, str], Package]) -> None:
    sed = package("sed", "4.9-1")
    site = str(TOOLCHAINS / "config.site")
    sed.run("sh", "-c", "cd source && ./configure -q", CONFIG_SITE=site)
    # Its manual needs makeinfo.
    sed.run("make", "-j2", "-C", "source", "MAKEINFO=true")
    assert sed.holds_shapes("source/sed/sed")
    assert sed.run("source/sed/sed", "s/a/b/", __file__) == sed.run("sed", "s/a/b/", __file__)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "cache"
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def test_a_cache_in_front_keeps_modes_and_plans_apart(kadence: Kadence, cache: Path) -> None:
    """ccache looks into its cache before it calls the wrapper, and takes the arguments as all."""
    shop = Package(cache.parent)
    shutil.copy(ROOT / "examples/heat/heat.c", shop.folder)
    shop.run("kadence-cc", "-O2", "-o", "heat", "heat.c", "-lm")
    plan = plan_of(kadence, shop, "heat", "-s", "300", "-e", "30")
    words = ("ccache", "kadence-cc", "-O2", "-c", "heat.c", "-o", "heat.o")

    def symbols(**settings: str) -> str:
        shop.run(*words, CCACHE_DIR=str(cache), **settings)
        return shop.run("nm", "heat.o")

    for _ in range(2):
        assert "kadapt_phase_enter" not in symbols()
        assert "kadapt_phase_enter" in symbols(KADENCE_PLAN=str(plan))
        assert "kadence_module" in symbols(KADENCE_MODE="profile")
    told = shop.run("ccache", "--print-stats", CCACHE_DIR=str(cache))
    counts = dict(line.split() for line in told.splitlines())
    assert int(counts["preprocessed_cache_hit"]) == 3
    document = json.loads(plan.read_text())
    document["markers"] = []
    plan.write_text(json.dumps(document))
    assert "kadapt_phase_enter" not in symbols(KADENCE_PLAN=str(plan))


def test_a_cache_behind_other_names_is_called(cache: Path) -> None:
    """PATH with our folder, then ccache's: each finds the next, and neither the other again."""
    shop = Package(cache.parent)
    shutil.copy(ROOT / "examples/heat/heat.c", shop.folder)
    path = f"{BIN}/as-gcc:/usr/lib/ccache:{os.environ['PATH']}"
    for _ in range(2):
        shop.run("gcc", "-O2", "-c", "heat.c", "-o", "heat.o", PATH=path, CCACHE_DIR=str(cache))
    assert shop.holds_shapes("heat.o")
    told = shop.run("ccache", "--print-stats", CCACHE_DIR=str(cache))
    counts = dict(line.split() for line in told.splitlines())
    assert int(counts["direct_cache_hit"]) == 1
