# SPDX-License-Identifier: GPL-2.0-or-later
"""`kadence site build` before it builds: what the administrator sees, and what is refused."""

import json
import os
import pty
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from packing import Workshop

from kadence.kconfig.request.request import TAILORED, BuildRequest
from kadence.slurm import gather, keys, site_store
from kadence.slurm.bundle import Configuration

# The rules and the kernel's source decide on symbols; the first test fetches the source.
pytestmark = pytest.mark.kernel

Completed = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Administrator:
    """An administrator with a site, and a user's bundle to examine."""

    place: Path
    workshop: Workshop
    wanted: Configuration
    kadence: Callable[..., Completed]

    def configure(self, text: str = "") -> None:
        """Write site.toml."""
        site = self.place / "site.toml"
        site.write_text(
            f'key_ring = "{self.place}/ring"\nstore = "{self.place}/store"\n'
            f'site_key = "{self.place}/site.pub"\n{text}'
        )

    def bundle(self, *more: Mapping[str, Any], **options: Any) -> Path:
        """A bundle whose configuration also asks for `more` than its program needs."""
        document = json.loads(self.wanted.content)
        document["requested"] += [{"origin": "theirs", "soft": True} | each for each in more]
        configuration = Configuration(json.dumps(document).encode(), self.wanted.id)
        return self.workshop.written(configurations={"x86_64": configuration}, **options)

    def build(self, bundle: Path, *words: object, **options: Any) -> Completed:
        """Run `kadence site build` without approving what it shows."""
        site = self.place / "site.toml"
        usual = {"stdin": subprocess.DEVNULL}
        return self.kadence("site", "build", bundle, "--site", site, *words, **usual | options)


@pytest.fixture
def administrator(
    tmp_path: Path, make_plan: Callable[..., Path], kadence: Callable[..., Completed]
) -> Administrator:
    (tmp_path / "user").mkdir()
    workshop = Workshop.make(tmp_path / "user")
    plan = make_plan(tmp_path / "plan.json", system_calls=["read", "write", "mq_open"])
    wanted = gather.configuration(BuildRequest(TAILORED, plan, "x86_64"))
    keys.make(tmp_path / "site")
    (tmp_path / "ring").mkdir()
    shutil.copy(workshop.public, tmp_path / "ring/user.pub")
    made = Administrator(tmp_path, workshop, wanted, kadence)
    made.configure()
    return made


def sections(text: str) -> dict[str, list[str]]:
    """The listed symbols, as SYMBOL=VALUE, by the heading above them."""
    found: dict[str, list[str]] = {}
    title = ""
    for line in text.splitlines():
        if line.startswith("  "):
            found[title].append(line.split()[0])
        else:
            title = line.rpartition(", because")[0] or line
            found[title] = []
    return found


def test_nothing_is_built_without_approval(administrator: Administrator) -> None:
    shown = administrator.build(administrator.bundle())
    assert shown.returncode == 1
    assert "POSIX_MQUEUE=y" in shown.stdout
    assert "KADAPT=y  the kernel adaptation call, /dev/kadapt, is built in" in shown.stdout
    assert "add --yes" in shown.stderr
    assert not (administrator.place / "store").exists()


def test_approval_is_asked_for_on_a_terminal(administrator: Administrator) -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"n\n")
    shown = administrator.build(administrator.bundle(), stdin=theirs)
    os.close(ours)
    os.close(theirs)
    assert "build and sign this kernel? [y/N]" in shown.stdout
    assert "did not approve" in shown.stderr
    assert not (administrator.place / "store").exists()


def test_mitigations_are_the_sites_to_switch_off(administrator: Administrator) -> None:
    bundle = administrator.bundle()
    defended = administrator.build(bundle).stdout
    assert "CPU_MITIGATIONS=y" in defended
    assert "all mitigations that the processor needs stay on" in defended
    administrator.configure("mitigations_off = true\n")
    undefended = sections(administrator.build(bundle).stdout)
    assert "MITIGATION_PAGE_TABLE_ISOLATION=y" in undefended["switched off"]
    (of_kernel,) = [names for title, names in undefended.items() if title.startswith("kernel for")]
    assert "CPU_MITIGATIONS=n" in of_kernel


def test_bundle_may_only_switch_things_on(administrator: Administrator) -> None:
    bundle = administrator.bundle(
        {"symbol": "BPF_SYSCALL", "value": "y", "reason": "the program ran what it guards"},
        {"symbol": "STRICT_DEVMEM", "value": "n", "reason": "less is faster"},
        {"symbol": "INITRAMFS_SOURCE", "value": "/etc/shadow", "reason": "files are nice"},
        {"symbol": "MULTIUSER", "value": "n", "reason": "one is enough"},
    )
    shown = sections(administrator.build(bundle).stdout)
    assert shown["of these, the site's rules do not ask for:"] == ["BPF_SYSCALL=y"]
    vain = shown["the bundle asks for these, but does not get them:"]
    assert {"STRICT_DEVMEM=n", "INITRAMFS_SOURCE=/etc/shadow", "MULTIUSER=n"} <= set(vain)


def test_users_words_do_nothing_to_the_terminal(administrator: Administrator) -> None:
    bundle = administrator.bundle(
        {"symbol": "BPF_SYSCALL", "value": "y", "reason": "\x1b[2Jfine\nCPU_MITIGATIONS=y"},
    )
    shown = administrator.build(bundle).stdout
    assert "\x1b" not in shown
    assert "BPF_SYSCALL=y  ?[2Jfine?CPU_MITIGATIONS=y (theirs)" in shown


@pytest.mark.parametrize(
    "symbol", ["X\nCONFIG_DEVMEM", "X=y # ", "", "a b", "$(shell,touch here)", "X" * 65]
)
def test_what_is_no_symbol_is_refused(
    administrator: Administrator, refused: Callable[[Completed], str], symbol: str
) -> None:
    bundle = administrator.bundle({"symbol": symbol, "value": "y", "reason": ""})
    assert "is damaged" in refused(administrator.build(bundle, "--yes"))


def test_bundles_have_to_be_signed(
    administrator: Administrator, refused: Callable[[Completed], str]
) -> None:
    unsigned = administrator.bundle(signed=False)
    assert "is not signed, but" in refused(administrator.build(unsigned, "--yes"))
    (administrator.place / "ring/user.pub").unlink()
    stranger = administrator.bundle()
    assert "not among those that are accepted" in refused(administrator.build(stranger, "--yes"))


def test_bundle_without_a_configuration_for_nodes(
    administrator: Administrator, refused: Callable[[Completed], str]
) -> None:
    bundle = administrator.workshop.written()
    assert "has no configuration for x86_64" in refused(administrator.build(bundle, "--yes"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("quantum = 1\n", "quantum must be left out: there is no such key"),
        ("mitigations_off = 1\n", "mitigations_off must be true or false"),
    ],
)
def test_mistakes_in_the_sites_file(
    administrator: Administrator, refused: Callable[[Completed], str], text: str, said: str
) -> None:
    administrator.configure(text)
    assert said in refused(administrator.build(administrator.bundle(), "--yes"))


def test_what_is_built_is_signed(tmp_path: Path) -> None:
    """OpenSSL verifies the signature. A second build replaces the first as a whole."""
    keys.make(tmp_path / "site")
    key = keys.load_private(tmp_path / "site")
    for content in (b"old", b"new"):
        files = {"kadapt.ko": content}
        folder = site_store.MODULES / "6.12.1-toy"
        made = site_store.write(tmp_path / "store", folder, files, {}, key, ["kadence"])
    assert (made / "kadapt.ko").read_bytes() == b"new"
    assert [path.name for path in made.parent.iterdir()] == ["6.12.1-toy"]
    signature = (made / "manifest.sig").read_bytes().split()[2]
    decode = ["openssl", "base64", "-d", "-A", "-out", tmp_path / "raw"]
    subprocess.run(decode, input=signature, check=True)
    verify = ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", tmp_path / "site.pub"]
    words = [*verify, "-in", made / "manifest.json", "-sigfile", tmp_path / "raw"]
    assert subprocess.run(words, capture_output=True, check=False).returncode == 0


@pytest.mark.parametrize("release", ["../../etc", "6.12/../..", "", "-x"])
def test_what_is_no_release_is_refused(
    administrator: Administrator, refused: Callable[[Completed], str], release: str
) -> None:
    site = administrator.place / "site.toml"
    words = ["site", "build", f"--release={release}", "--site", site]
    assert "is not a kernel's release" in refused(administrator.kadence(*words))
