# SPDX-License-Identifier: GPL-2.0-or-later
"""JSON artefacts: one envelope, read strictly and written atomically.

Every artefact names its schema and version, the Kadence version, the build-id of the
program it was made from (None where it has none) and the command that reproduces it.
"""

import json
import os
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from kadence.base import codec
from kadence.base.errors import ArtefactError
from kadence.base.version import VERSION

T = TypeVar("T")

SURROGATE = re.compile("[\ud800-\udfff]")

PROFILE = "kadence.profile"
PHASES = "kadence.phases"
PLAN = "kadence.plan"
REPORT = "kadence.report"
KERNEL = "kadence.kernel"
TRACE = "kadence.trace"
NEEDS = "kadence.needs"
PROOF = "kadence.proof"
LAB = "kadence.lab"
FIGURES = "kadence.figures"
COMPARE = "kadence.compare"
CONFIGURATION = "kadence.configuration"
BUNDLE = "kadence.bundle"
SITE = "kadence.site"
JOB = "kadence.job"
STEP = "kadence.step"
RECORD = "kadence.record"
PREDICTION = "kadence.prediction"
CEILING = "kadence.ceiling"
FLAGS = "kadence.flags"
OBSERVED = "kadence.observed"
TRIALS = "kadence.trials"
RACE = "kadence.race"
TUNE = "kadence.tune"
COUNTS = "kadence.counts"

VERSIONS = {
    PROFILE: 4,
    PHASES: 7,
    PLAN: 6,
    REPORT: 3,
    KERNEL: 1,
    TRACE: 1,
    NEEDS: 1,
    PROOF: 1,
    LAB: 1,
    FIGURES: 1,
    COMPARE: 4,
    CONFIGURATION: 2,
    BUNDLE: 2,
    SITE: 1,
    JOB: 1,
    STEP: 1,
    RECORD: 1,
    PREDICTION: 1,
    CEILING: 1,
    FLAGS: 1,
    OBSERVED: 1,
    TRIALS: 1,
    RACE: 1,
    TUNE: 1,
    COUNTS: 2,
}


# The keys with which every artefact begins.
ENVELOPE = ("schema", "version", "kadence", "build_id", "command")


@dataclass(frozen=True)
class Envelope:
    """What readers use of those keys."""

    build_id: str | None


@contextmanager
def atomic_output(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; rename it to `path` only on success."""
    path = Path(path)
    if path.exists() and not path.is_file():
        # Renaming over a device or a folder would replace it, not write to it.
        raise ArtefactError(f"cannot write {path}: it is not a regular file")
    try:
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent or ".")
    except OSError as error:
        raise ArtefactError(
            f"cannot write {path}: {error.strerror}; choose another place with -o"
        ) from error
    os.close(descriptor)
    temporary = Path(name)
    try:
        yield temporary
        temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    except OSError as error:
        raise ArtefactError(f"cannot write {path}: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def write(
    path: Path, schema: str, build_id: str | None, command: Sequence[str], body: dict[str, Any]
) -> None:
    """Write an artefact. Equal arguments give equal bytes."""
    content = text(schema, build_id, command, body)
    with atomic_output(path) as temporary:
        temporary.write_text(content, encoding="utf-8")


def text(schema: str, build_id: str | None, command: Sequence[str], body: dict[str, Any]) -> str:
    """Return the text of the artefact's file."""
    envelope: dict[str, Any] = {
        "schema": schema,
        "version": VERSIONS[schema],
        "kadence": VERSION,
        "build_id": build_id,
        "command": list(command),
    }
    document = envelope | body
    content = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    if SURROGATE.search(content):
        # A file name that is not UTF-8 becomes surrogates, which only escapes can represent.
        return json.dumps(document, indent=1, allow_nan=False) + "\n"
    return content


def body_of(document: dict[str, Any]) -> dict[str, Any]:
    """An artefact without its envelope."""
    return {key: value for key, value in document.items() if key not in ENVELOPE}


def read(path: Path, schema: str) -> dict[str, Any]:
    """Read an artefact; raise ArtefactError unless schema and version match exactly."""
    try:
        return parse(str(path), Path(path).read_bytes(), schema)
    except OSError as error:
        raise ArtefactError(f"cannot read {path}: {error.strerror}") from error


def load(kind: type[T], path: Path, schema: str, remedy: str = "make it anew") -> T:
    """Read an artefact as a `kind`, a class that base/codec.py can decode."""
    return decode(kind, read(path, schema), str(path), remedy)


def decode(kind: type[T], document: dict[str, Any], name: str, remedy: str = "make it anew") -> T:
    """Make a `kind` of an artefact that is already read; error messages call the file `name`."""
    try:
        return codec.decode(kind, document)
    except codec.DecodeError as error:
        raise ArtefactError(f"{name} is damaged: {error}; {remedy}") from error


def parse(name: str, content: bytes, schema: str) -> dict[str, Any]:
    """Parse the bytes of an artefact as read() does; error messages call the file `name`."""
    try:
        document = json.loads(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ArtefactError(f"{name} is not a {schema} artefact: it is not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise ArtefactError(f"{name} is not a {schema} artefact: {error}; make it anew") from error
    found = document.get("schema") if isinstance(document, dict) else None
    if found != schema:
        raise ArtefactError(f"{name} is not a {schema} artefact (its schema is {found!r})")
    version = document.get("version")
    if version != VERSIONS[schema]:
        raise ArtefactError(
            f"{name} has version {version!r} of {schema}, this Kadence knows "
            f"{VERSIONS[schema]}; make it anew"
        )
    return dict(document)
