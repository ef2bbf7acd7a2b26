# SPDX-License-Identifier: GPL-2.0-or-later
"""docs/slurm.md: its commands do what it says, on a machine with test folders."""

import json
import os
import re
import shutil
import socket
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path

import configuration
import daemons
import pytest
from cluster import Cluster

from kadence.base import resources
from kadence.base.errors import UsageError
from kadence.slurm import site

HERE_DOCUMENT = "<<EOF"


def blocks(page: str, kind: str) -> list[str]:
    """The commands in a page's block of this kind; a here-document belongs to its command."""
    found = re.search(rf"^```sh {kind}\n(.*?)^```", page, re.M | re.S)
    assert found, f"docs/slurm.md has no block {kind!r}"
    commands: list[str] = []
    is_open = False
    for line in found.group(1).splitlines(keepends=True):
        if is_open:
            commands[-1] += line
            is_open = line.rstrip() != "EOF"
        else:
            commands.append(line)
            is_open = HERE_DOCUMENT in line
    return commands


class Machine(Cluster):
    """A machine on which an administrator begins: only with what Debian's packages install."""

    def _set_up(self) -> None:
        self.make_folders()
        self.port = configuration.free_ports(3)
        # The only differences from the page's machine, besides what packages() and services() do.
        self.paths = {
            "/etc/": f"{self.folder}/etc/",
            "/var/": f"{self.folder}/var/",
            "/home/alice": str(self.home()),
            "/opt/kadence": str(resources.home()),
            "kadence report": f"kadence report --site {self.folder}/etc/kadence/site.toml",
        }

    def environment(self, user: str = "root") -> dict[str, str]:
        usual = super().environment(user)
        cache = os.environ.get("KADENCE_CACHE", str(Path.home() / ".cache/kadence"))
        return usual | {"SLURM_CONF": f"{self.folder}/etc/slurm/slurm.conf", "KADENCE_CACHE": cache}

    def execute(self, command: str) -> str:
        """Run one command of the page as root in the home folder; returns what it printed."""
        for path, here in self.paths.items():
            command = command.replace(path, here)
        replaced = {"apt-get": self.packages, "systemctl": self.services}.get(command.split()[0])
        if replaced:
            replaced()
            return ""
        return self.run(["bash", "-eu", "-c", command], timeout=1200).stdout

    def packages(self) -> None:
        """Do what installing the packages would do: make folders, start munged and a database."""
        (self.folder / "etc/slurm").mkdir()
        for name in ("slurmctld", "slurmd"):
            path = self.folder / "var/lib/slurm" / name
            path.mkdir(parents=True)
            shutil.chown(path, "slurm", "slurm")
        shutil.chown(self.places.logs, "slurm", "slurm")
        daemons.start_munged(self)
        daemons.start_database(self)
        client = f"[client]\nsocket={self.places.database_socket}\n"
        (self.home() / ".my.cnf").write_text(client)

    def services(self) -> None:
        """Start the services with this machine's own ports, sockets, logs and PID files."""
        etc, munge = self.folder / "etc/slurm", self.places.munge_socket
        mine = {
            "slurm.conf": [
                f"AuthInfo=socket={munge}",
                f"SlurmctldPort={self.port}",
                f"SlurmdPort={self.port + 1}",
                f"AccountingStoragePort={self.port + 2}",
                f"AccountingStoragePass={munge}",
                f"SlurmctldPidFile={self.folder}/slurmctld.pid",
                f"SlurmdPidFile={self.folder}/slurmd.pid",
                f"SlurmctldLogFile={self.places.logs}/slurmctld",
                f"SlurmdLogFile={self.places.logs}/slurmd",
            ],
            "slurmdbd.conf": [
                f"AuthInfo=socket={munge}",
                f"DbdPort={self.port + 2}",
                f"PidFile={self.folder}/slurmdbd.pid",
                f"LogFile={self.places.logs}/slurmdbd",
            ],
        }
        for name, lines in mine.items():
            with (etc / name).open("a") as file:
                file.write("\n".join(lines) + "\n")
        self._start_services(etc / "slurm.conf")

    def _start_services(self, slurm_conf: Path) -> None:
        socket_path = self.places.database_socket
        names = {"SLURM_CONF": slurm_conf, "MYSQL_UNIX_PORT": socket_path}
        self.daemon("slurmdbd", ["slurmdbd", "-D"], **names)
        daemons.wait_for_answer(self, "slurmdbd", ["sacctmgr", "show", "cluster"])
        self.daemon("slurmctld", ["slurmctld", "-D"], **names)
        daemons.wait_for_answer(self, "slurmctld", ["scontrol", "ping"])
        self.daemon("slurmd", ["slurmd", "-D", "-N", host_name()], **names)
        self.require_idle()


def host_name() -> str:
    return socket.gethostname().partition(".")[0]


@pytest.fixture(scope="module")
def page(root: Path) -> str:
    return (root / "docs/slurm.md").read_text()


@pytest.fixture(scope="module")
def machine(slurm: type[Cluster]) -> Iterator[Machine]:
    with Machine() as started:
        yield started


@pytest.mark.kernel
def test_administrator_and_user(machine: Machine, page: str, root: Path, tmp_path: Path) -> None:
    administrator, user = blocks(page, "administrator"), blocks(page, "user")
    assert (len(administrator), len(user)) == (10, 5)
    machine.execute(user[0])  # makes the key that the administrator gets
    printed = [machine.execute(command) for command in administrator]
    assert re.search(rf"^kadence\* .* idle {host_name()}$", printed[-1], re.M), printed[-1]
    *_, report, accounting = [machine.execute(command) for command in user[1:]]
    assert re.search(r"^\S+ +0\.0 +heat +adapted +um ", report, re.M), report
    rows = {line.split()[0]: line.split()[2:4] for line in accounting.splitlines()[2:]}
    assert rows == {job: ["COMPLETED", "0:0"] for job in ("1", "1.batch", "1.0")}, accounting
    assert machine.output("1") == plain_output(root, tmp_path)
    machine.require_idle()


def plain_output(root: Path, place: Path) -> str:
    """What the user's program prints without Kadence and Slurm."""
    program = place / "heat"
    subprocess.run(
        ["gcc-12", "-O2", "-o", program, root / "examples/heat/heat.c", "-lm"], check=True
    )
    words = [program, "-s", "600", "-e", "60"]
    return subprocess.run(words, cwd=place, capture_output=True, text=True, check=True).stdout


def test_keys_and_defaults_of_site_toml(page: str, root: Path, tmp_path: Path) -> None:
    section = page.partition("## site.toml")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| `?(.*?)`? \|", section, re.M)
    defaults = tmp_path / "site.toml"
    defaults.write_text("".join(f"{key} = {value}\n" for key, value in rows))
    for file in (defaults, tmp_path / "missing"):
        words = [root / "build/slurm/kadence-node", "--node", "%n", "--site", file, "site"]
        said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
        assert json.loads(said) == tomllib.loads(defaults.read_text())


def test_a_mistake_in_site_toml_has_one_sentence_for_every_reader(tmp_path: Path) -> None:
    """The jobs' and the administrator's commands are told the same."""
    file = tmp_path / "site.toml"
    file.write_text('users = ["*"]\nsignatures = "requird"\n')
    with pytest.raises(UsageError, match='line 2: signatures must be "required" or "optional"'):
        site.read(file)
    file.write_text("[oops\n")
    with pytest.raises(UsageError, match="site.toml, line 1: "):
        site.read(file)
