# SPDX-License-Identifier: GPL-2.0-or-later
"""A site whose nodes are machines in QEMU: keys, a bundle of two programs, the site's store."""

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from guest_cluster import GuestCluster
from node_guest import stock_release
from packing import noted_build_id

from kadence.slurm import bundle, keys
from kadence.slurm.bundle import BuiltProgram, Configuration, Contents
from kadence.slurm.manifest import Unit

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = {"phases": "gcc-12", "ranks": "mpicc"}
FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror")
USER = "games"
# A node may have to boot before it is idle.
IDLE_SECONDS = 180.0
# Prints how many signs of the driver a job finds.
LOOK = "ls -d /dev/kadapt /sys/module/kadapt 2>/dev/null | wc -l\n"


def compile_programs(folder: Path) -> None:
    """Compile each program, plain and adapted, as folder/MODE/NAME."""
    adapted = ("-DADAPTED", f"-I{ROOT / 'kadapt/lib'}", f"-I{ROOT / 'kadapt/uapi'}")
    library = str(ROOT / "build/kadapt/libkadapt.a")
    for name, compiler in PROGRAMS.items():
        source = str(HERE / "programs" / f"{name}.c")
        for mode, before, after in (("plain", (), ()), ("adapted", adapted, (library,))):
            target = folder / mode / name
            target.parent.mkdir(parents=True, exist_ok=True)
            words = [compiler, *FLAGS, *before, "-o", str(target), source, *after]
            subprocess.run(words, check=True)


@dataclass(frozen=True)
class GuestSite:
    """The site's files, in the cluster's folder, which its nodes see, too."""

    cluster: GuestCluster
    kadence: Callable[..., Any]
    configurations: Mapping[str, Configuration] = field(default_factory=dict)
    units: Sequence[Unit] = ()

    @property
    def share(self) -> Path:
        return self.cluster.folder / "share"

    @property
    def bundle(self) -> Path:
        return self.share / "programs.kbundle"

    @property
    def site_file(self) -> Path:
        return self.cluster.places.site

    def set_up(self) -> None:
        """Make the keys, the programs and the bundle."""
        folder = self.cluster.folder
        for name in ("user", "site"):
            keys.make(folder / "private" / name)
        shutil.copy(folder / "private/user.pub", folder / "keys/user.pub")
        shutil.copy(folder / "private/site.pub", folder / "etc/site.pub")
        compile_programs(self.share)
        (folder / "plan.json").write_text("{}")
        self.write_bundle(self.bundle, self.units)

    def write_bundle(self, path: Path, units: Sequence[Unit]) -> None:
        """Write a bundle of the programs that names these units."""
        folder = self.cluster.folder
        programs = [
            BuiltProgram(self.share / "adapted" / name, (noted_build_id(self.plain(name)),))
            for name in PROGRAMS
        ]
        contents = Contents(
            name="programs",
            programs=programs,
            plan=folder / "plan.json",
            configurations=self.configurations,
            units=units,
        )
        bundle.write(path, contents, keys.load_private(folder / "private/user"))

    def plain(self, name: str) -> Path:
        """The plain build of a program."""
        return self.share / "plain" / name

    def build(self, *words: object) -> str:
        """Run `kadence site build`; returns what it printed."""
        made = self.kadence(
            *("site", "build", "--yes", "--site", self.site_file),
            *("--key", self.cluster.folder / "private/site", *words),
            timeout=2400,
        )
        assert made.returncode == 0, made.stdout + made.stderr
        return str(made.stdout)

    def options(self, target: str) -> list[str]:
        """The options of srun and sbatch for the bundle on this target."""
        return [f"--kadence={self.bundle}", f"--kadence-target={target}"]

    def run(self, *words: object, **options: Any) -> Any:
        """Run srun as a user."""
        return self.cluster.run(["srun", *words], user=USER, **options)

    def entries(self, job: str) -> list[list[int]]:
        """How often each process of a job entered each phase."""
        return [
            [phase["entries"] for phase in line["phases"]]
            for step in self.record(job)["steps"]
            for line in step["counters"]
        ]

    def newest_record(self) -> str:
        """The job with the newest record."""
        self.cluster.require_idle(IDLE_SECONDS)
        records = self.cluster.folder / "records"
        return max((path.name for path in records.iterdir()), key=int)

    def require_plain_node(self) -> None:
        """Wait until the node is idle; a job must then find the stock kernel without the driver."""
        self.cluster.require_idle(IDLE_SECONDS)
        job = self.cluster.sbatch(f"uname -r\n{LOOK}", user=USER)
        assert self.cluster.wait(job).state == "COMPLETED"
        assert self.cluster.output(job, USER).split() == [stock_release(), "0"]

    def record(self, job: str) -> dict[str, Any]:
        """The record that the job's epilog wrote."""
        (path,) = (self.cluster.folder / "records" / job).glob("*.json")
        return dict(json.loads(path.read_text()))
