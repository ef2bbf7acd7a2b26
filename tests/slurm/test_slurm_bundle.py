# SPDX-License-Identifier: GPL-2.0-or-later
"""Bundles: GNU tar, zstd and OpenSSL read what was packed, and damage is refused."""

import base64
import hashlib
import io
import json
import os
import random
import shutil
import subprocess
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from packing import Entry, Workshop, compiled, described, entries_of, noted_build_id, packed

from kadence import cli
from kadence.base import elf
from kadence.base.errors import KadenceError
from kadence.slurm import archive, bundle, keys

Refused = Callable[..., str]


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop.make(tmp_path_factory.mktemp("workshop"))


@pytest.fixture
def complaint(capsys: pytest.CaptureFixture[str]) -> Refused:
    """Run `kadence` in this process; it must fail as it does for bad input."""

    def run(*arguments: object) -> str:
        assert cli.main(list(map(str, arguments))) == 1
        said = capsys.readouterr().err
        assert said.startswith("kadence: ") and said.count("\n") == 1, said
        return said

    return run


def unpacked(path: Path, place: Path) -> Path:
    """Unpack a bundle by GNU tar and zstd."""
    place.mkdir()
    with subprocess.Popen(["zstd", "-dc", path], stdout=subprocess.PIPE) as zstd:
        subprocess.run(["tar", "-xpf", "-"], cwd=place, stdin=zstd.stdout, check=True)
    assert zstd.returncode == 0
    return place


def test_same_files_give_the_same_bytes(workshop: Workshop) -> None:
    first = workshop.written("first.kbundle").read_bytes()
    old = os.umask(0o077)
    os.utime(workshop.adapted, (1, 1))
    second = workshop.written("second.kbundle").read_bytes()
    os.umask(old)
    assert first == second


def test_tar_and_zstd_unpack_it(workshop: Workshop, tmp_path: Path) -> None:
    place = unpacked(workshop.written(), tmp_path / "unpacked")
    files = {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()}
    packed_files = {"bin/toy", "plan.json", "kernel/um", "config/um.json"}
    assert files == {"manifest.json", "manifest.sig", *packed_files}
    assert (place / "bin/toy").read_bytes() == workshop.adapted.read_bytes()
    modes = {name: (place / name).stat().st_mode & 0o7777 for name in files}
    executable = {"bin/toy", "kernel/um"}
    assert modes == {name: 0o755 if name in executable else 0o644 for name in files}
    said = subprocess.run([place / "bin/toy"], capture_output=True, text=True, check=True)
    assert said.stdout == "adapted\n"


def test_nothing_of_the_maker_is_in_it(workshop: Workshop, tmp_path: Path) -> None:
    plain = subprocess.run(
        ["zstd", "-dc", workshop.written()], capture_output=True, check=True
    ).stdout
    listing = subprocess.run(
        ["tar", "--numeric-owner", "-tvf", "-"], input=plain, capture_output=True, check=True,
        env=os.environ | {"TZ": "UTC", "LC_ALL": "C"},
    ).stdout.decode().splitlines()  # fmt: skip
    assert listing[0].split()[-1] == "manifest.json"
    assert all(line.split()[1] == "0/0" for line in listing)
    assert all("1970-01-01 00:00" in line for line in listing)


def test_checksums_are_those_of_the_files(workshop: Workshop, tmp_path: Path) -> None:
    place = unpacked(workshop.written(), tmp_path / "unpacked")
    manifest = json.loads((place / "manifest.json").read_text())
    lines = "".join(f"{file['sha256']}  {file['path']}\n" for file in manifest["files"])
    subprocess.run(["sha256sum", "-c", "--strict"], cwd=place, input=lines, text=True, check=True)
    sizes = {file["path"]: (place / file["path"]).stat().st_size for file in manifest["files"]}
    assert sizes == {file["path"]: file["bytes"] for file in manifest["files"]}


def test_build_ids_are_those_that_binutils_read(workshop: Workshop, tmp_path: Path) -> None:
    manifest = bundle.read(workshop.written()).manifest
    assert manifest.programs[0].build_id == noted_build_id(workshop.adapted)
    assert manifest.programs[0].replaces == (noted_build_id(workshop.plain),)
    for options in (["-static"], ["-no-pie", "-Wl,--build-id=md5"], ["-g", "-Wl,-z,separate-code"]):
        built = compiled(tmp_path / "other", "other", *options)
        assert elf.build_id(built) == noted_build_id(built)


def test_a_file_without_build_id_has_none(tmp_path: Path) -> None:
    bare = compiled(tmp_path / "bare", "bare", "-Wl,--build-id=none")
    truncated = tmp_path / "truncated"
    truncated.write_bytes(bare.read_bytes()[:70])
    assert [elf.build_id(path) for path in (bare, truncated, tmp_path, tmp_path / "no")] == [
        None
    ] * 4


def test_openssl_verifies_the_signature(workshop: Workshop, tmp_path: Path) -> None:
    place = unpacked(workshop.written(), tmp_path / "unpacked")
    algorithm, signer, encoded = (place / "manifest.sig").read_text().removesuffix("\n").split(" ")
    (tmp_path / "signature").write_bytes(base64.b64decode(encoded))
    der = subprocess.run(
        ["openssl", "pkey", "-pubin", "-in", workshop.public, "-outform", "DER"],
        capture_output=True, check=True,
    ).stdout  # fmt: skip
    assert algorithm == "ed25519"
    assert signer == hashlib.sha256(der[-32:]).hexdigest()[:16]
    subprocess.run(
        ["openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", workshop.public,
         "-in", place / "manifest.json", "-sigfile", tmp_path / "signature"],
        check=True,
    )  # fmt: skip


def test_a_key_of_openssl_signs(workshop: Workshop, tmp_path: Path) -> None:
    key, public = tmp_path / "own", tmp_path / "own.pub"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", key], check=True)
    subprocess.run(["openssl", "pkey", "-in", key, "-pubout", "-out", public], check=True)
    path = tmp_path / "toy.kbundle"
    bundle.write(path, workshop.contents(), keys.load_private(key))
    assert bundle.signer("toy", bundle.read(path), keys.ring(tmp_path)) == "own"


def test_key_is_the_users_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "new/key"
    assert cli.main(["key", "-o", str(path)]) == 0
    assert path.stat().st_mode & 0o7777 == 0o600
    assert path.with_name("key.pub").stat().st_mode & 0o7777 == 0o644
    assert keys.identifier(keys.load_public(path.with_name("key.pub"))) in capsys.readouterr().out


def test_key_is_never_overwritten(workshop: Workshop, complaint: Refused) -> None:
    before = workshop.key.read_bytes()
    assert "is there already" in complaint("key", "-o", workshop.key)
    assert workshop.key.read_bytes() == before


def test_show_tells_who_signed(workshop: Workshop, capsys: pytest.CaptureFixture[str]) -> None:
    path = workshop.written()
    arguments = ["bundle", "--show", str(path), "--public-key", str(workshop.public)]
    assert cli.main(arguments) == 0
    said = capsys.readouterr().out
    assert "signed by key (key " in said and "kernel 0123456789abcdef for um, 6.12.1-toy" in said
    assert cli.main([*arguments, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["signature"]["verified_as"] == "key"
    assert document["packed_bytes"] == path.stat().st_size
    assert document["name"] == "toy"


def test_show_of_an_unsigned_bundle(
    workshop: Workshop, complaint: Refused, capsys: pytest.CaptureFixture[str]
) -> None:
    path = workshop.written("unsigned.kbundle", signed=False)
    assert cli.main(["bundle", "--show", str(path)]) == 0
    assert "unsigned" in capsys.readouterr().out
    assert "is not signed" in complaint("bundle", "--show", path, "--key-ring", workshop.place)


def test_another_key_is_refused(workshop: Workshop, tmp_path: Path, complaint: Refused) -> None:
    keys.make(tmp_path / "other")
    path = workshop.written()
    assert "not among those" in complaint("bundle", "--show", path, "--key-ring", tmp_path)


Change = Callable[[list[Entry]], list[Entry]]


def _with(index: int, **fields: Any) -> Change:
    """Change one member and leave manifest and signature as they were."""

    def change(entries: list[Entry]) -> list[Entry]:
        for name, value in fields.items():
            setattr(entries[index], name, value)
        return entries

    return change


def _extra(entry: Entry) -> Change:
    return lambda entries: [*entries, entry]


LINK = {"link": "/etc/passwd"}
UNDESCRIBED: dict[str, tuple[Change, str]] = {
    "no manifest": (lambda entries: entries[1:], "does not begin with"),
    "nothing": (lambda entries: [], "does not begin with"),
    "changed program": (_with(2, content=b"other"), "is not the file that was packed"),
    "no longer executable": (_with(2, mode=0o644), "is not the file that was packed"),
    "lost file": (lambda entries: entries[:-1], "do not agree about config/um.json"),
    "file too many": (_extra(Entry("more", b"more")), "do not agree about more"),
    "file twice": (lambda entries: [*entries, entries[2]], "do not agree about bin/toy"),
    "other order": (lambda e: [e[0], e[1], e[3], e[2], *e[4:]], "in the manifest's order"),
    "signature not one": (_with(1, content=b"ed25519 me bm8=\n"), "not a line of an ed25519"),
    "signature no text": (_with(1, content=b"\xff" * 80), "not a signature's line"),
    "other algorithm": (_with(1, content=b"rsa 00 bm8=\n"), "not a line of an ed25519"),
    "manifest no JSON": (_with(0, content=b"{"), "is not a kadence.bundle artefact"),
    "manifest deep": (_with(0, content=b"[" * 100_000), "is not a kadence.bundle artefact"),
    "symbolic link": (_extra(Entry("link", kind=tarfile.SYMTYPE, **LINK)), "not a regular file"),
    "hard link": (_extra(Entry("link", kind=tarfile.LNKTYPE, **LINK)), "not a regular file"),
    "folder": (_extra(Entry("folder", kind=tarfile.DIRTYPE, mode=0o755)), "not a regular file"),
    "device": (_extra(Entry("device", kind=tarfile.CHRTYPE)), "not a regular file"),
    "named pipe": (_extra(Entry("pipe", kind=tarfile.FIFOTYPE)), "not a regular file"),
    "set-user-ID": (_with(2, mode=0o4755), "the mode 4755"),
}  # fmt: skip


@pytest.mark.parametrize("kind", UNDESCRIBED)
def test_what_the_manifest_does_not_describe_is_refused(
    workshop: Workshop, tmp_path: Path, complaint: Refused, kind: str
) -> None:
    change, expected = UNDESCRIBED[kind]
    path = tmp_path / "changed.kbundle"
    path.write_bytes(packed(change(entries_of(workshop.written()))))
    assert expected in complaint("bundle", "--show", path)


@pytest.mark.parametrize(
    "name",
    ["../escaped", "/etc/escaped", "bin/../../escaped", "bin//toy", "./toy", "bin/toy/", "a\nb",
     "bin/\x1b[31m", "ünïcode", "bin/" + 30 * "long/" + "name"],
)  # fmt: skip
def test_no_path_leads_elsewhere(
    workshop: Workshop, tmp_path: Path, complaint: Refused, name: str
) -> None:
    entries = [*entries_of(workshop.written()), Entry(name, b"escaped")]
    path = tmp_path / "escaping.kbundle"
    path.write_bytes(packed(described(entries, workshop.key)))
    assert "which no bundle may have" in complaint("bundle", "--show", path)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"schema": "kadence.plan"}, "its schema is 'kadence.plan'"),
        ({"version": 3}, "has version 3"),
        ({"name": 7}, "name is not a text"),
        ({"interface": "1"}, "interface is not a whole number"),
        ({"programs": [{"file": "bin/toy"}]}, "programs[0].name is missing"),
        ({"programs": 5}, "is damaged"),
        ({"kernels": []}, "is damaged"),
        ({"plan": "other.json"}, "names other.json, which it does not list"),
        ({"kernels": {"um": {"file": "../um", "id": "0", "release": "6"}}}, "names ../um"),
        ({"measured": {"um": {"outcome": "faster", "ratio": "1", "sentence": "."}}},
         "measured.um.ratio is not a number"),
        ({"files": [{"path": "bin/toy", "bytes": True, "sha256": "0", "executable": 1}]},
         "files[0].bytes is not a whole number"),
    ],
)  # fmt: skip
def test_a_manifest_that_makes_no_sense_is_refused(
    workshop: Workshop, tmp_path: Path, complaint: Refused, changes: dict[str, Any], expected: str
) -> None:
    entries = described(entries_of(workshop.written()), workshop.key, **changes)
    path = tmp_path / "senseless.kbundle"
    path.write_bytes(packed(entries))
    assert expected in complaint("bundle", "--show", path, "--public-key", workshop.public)


@pytest.mark.parametrize(
    ("folders", "count", "expected"),
    [(1, 900, ""), (0, 1100, "more than 1024 files"), (60, 100, "more than 4096 folders")],
)
def test_a_node_takes_so_many_files_and_folders(
    workshop: Workshop, tmp_path: Path, root: Path, folders: int, count: int, expected: str
) -> None:
    """Unpacking and removing files costs by their number, however small they are."""
    more = [Entry(f"{folders * 'd/'}{number}", b"") for number in range(count)]
    crowded = tmp_path / "crowded.kbundle"
    crowded.write_bytes(packed(described([*entries_of(workshop.written()), *more], workshop.key)))
    (tmp_path / "ring").mkdir()
    shutil.copy(workshop.public, tmp_path / "ring/workshop.pub")
    site = tmp_path / "site.toml"
    site.write_text(f'key_ring = "{tmp_path}/ring"\n')
    node = [root / "build/slurm/kadence-node", "--site", site, "check", crowded]
    said = subprocess.run(node, capture_output=True, text=True, check=False)
    assert (said.returncode, said.stderr.count("\n")) == ((1, 1) if expected else (0, 0))
    assert expected in said.stderr


def test_a_changed_manifest_is_wrongly_signed(
    workshop: Workshop, tmp_path: Path, complaint: Refused
) -> None:
    entries = entries_of(workshop.written())
    entries[0].content = entries[0].content.replace(b'"toy"', b'"yot"')
    path = tmp_path / "changed.kbundle"
    path.write_bytes(packed(entries))
    said = complaint("bundle", "--show", path, "--public-key", workshop.public)
    assert "its manifest was changed" in said


def test_damage_of_the_file_is_refused(
    workshop: Workshop, tmp_path: Path, complaint: Refused
) -> None:
    whole = workshop.written().read_bytes()
    path = tmp_path / "damaged.kbundle"
    damaged = {
        "": "truncated, or not a bundle",
        "no bundle at all": "not a bundle, or is damaged",
        whole[: len(whole) // 2]: "truncated",
        whole[:-1]: "truncated",
        whole + b"more": "data follows its end",
        whole + whole: "data follows its end",
    }
    for content, expected in damaged.items():
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        assert expected in complaint("bundle", "--show", path)
    assert "No such file" in complaint("bundle", "--show", tmp_path / "nowhere")
    assert "Is a directory" in complaint("bundle", "--show", tmp_path)


def test_what_would_unfold_too_far_is_refused_early(tmp_path: Path, complaint: Refused) -> None:
    bomb = zstandard.ZstdCompressor(level=1).compressobj()
    content = b"".join(bomb.compress(bytes(1 << 20)) for _ in range(1024)) + bomb.flush()
    path = tmp_path / "bomb.kbundle"
    path.write_bytes(content)
    assert len(content) < 1 << 20
    assert "more than the 256 MiB that are allowed" in complaint("bundle", "--show", path)


def test_any_byte_may_be_wrong(workshop: Workshop, tmp_path: Path) -> None:
    """Any change below zstd's checksum gives a refusal or an unchanged bundle."""
    chance = random.Random(1)
    original = bundle.read(workshop.written())
    with io.BytesIO(workshop.written().read_bytes()) as file:
        plain = zstandard.ZstdDecompressor().stream_reader(file).read()
    path = tmp_path / "flipped.kbundle"
    refused = 0
    for _ in range(500):
        flipped = bytearray(plain)
        flipped[chance.randrange(len(flipped))] ^= 1 << chance.randrange(8)
        path.write_bytes(zstandard.ZstdCompressor(level=1).compress(bytes(flipped)))
        try:
            found = bundle.read(path)
            owner = bundle.signer("it", found, keys.ring(workshop.place))
            assert (owner, found.files) == ("key", original.files)
        except KadenceError:
            refused += 1
    assert refused > 250


def test_a_key_must_be_one(workshop: Workshop, tmp_path: Path, complaint: Refused) -> None:
    rsa = tmp_path / "rsa"
    subprocess.run(
        ["openssl", "genpkey", "-algorithm", "rsa", "-out", rsa], check=True, capture_output=True
    )
    rsa.chmod(0o600)
    with pytest.raises(KadenceError, match="is not an ed25519 key"):
        keys.load_private(rsa)
    text = tmp_path / "text"
    text.write_text("no key")
    text.chmod(0o600)
    with pytest.raises(KadenceError, match="not a private key that can be used"):
        keys.load_private(text)
    text.chmod(0o640)
    with pytest.raises(KadenceError, match="others may read the key"):
        keys.load_private(text)
    path = workshop.written()
    assert "not a public key" in complaint("bundle", "--show", path, "--public-key", text)
    assert "no key ring" in complaint("bundle", "--show", path, "--key-ring", tmp_path / "none")


def test_what_cannot_be_packed(workshop: Workshop, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    refusals = {
        "is not a program with a build-id": [bundle.BuiltProgram(script, ())],
        "two programs of one name": [bundle.BuiltProgram(workshop.adapted, ())] * 2,
    }
    for expected, programs in refusals.items():
        with pytest.raises(KadenceError, match=expected):
            workshop.written("refused.kbundle", programs=programs)
    with pytest.raises(KadenceError, match="cannot pack"):
        workshop.written("refused.kbundle", plan=tmp_path / "nowhere")
    assert not (workshop.place / "refused.kbundle").exists()


def test_one_of_folder_and_bundle(complaint: Refused) -> None:
    assert "name either" in complaint("bundle")
    assert "name either" in complaint("bundle", "folder", "--show", "file")


def test_the_limit_is_of_what_is_unpacked(workshop: Workshop) -> None:
    content = workshop.written().read_bytes()
    with pytest.raises(KadenceError, match="more than the 0 MiB"):
        archive.unpack("it", content, limit=1000)
