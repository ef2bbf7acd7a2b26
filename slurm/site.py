# SPDX-License-Identifier: GPL-2.0-or-later
"""The keys of the administrator's file that a build for the site uses; nodes read all of them."""

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kadence.base.errors import UsageError

DEFAULT = Path("/etc/kadence/site.toml")
# Every key with its default value, as in docs/slurm.md.
DEFAULTS: dict[str, Any] = {
    "targets": ["um"],
    "users": ["*"],
    "key_ring": "/etc/kadence/keys",
    "signatures": "required",
    "mitigations_off": False,
    "spool": "/var/spool/kadence",
    "records": "/var/lib/kadence/records",
    "store": "/var/lib/kadence/site",
    "site_key": "/etc/kadence/site.pub",
    "largest_bundle_mib": 64,
    "largest_unpacked_mib": 256,
    "largest_store_mib": 1024,
    "largest_quantum_ms": 5000,
    "prepare_seconds": 20,
    "boot_seconds": 30,
}


@dataclass(frozen=True)
class Site:
    """The site's rules, and the places of its store and records."""

    file: Path
    key_ring: Path
    signatures_required: bool
    mitigations_off: bool
    store: Path
    records: Path
    site_key: Path
    largest_quantum_ms: int


def read(file: Path) -> Site:
    """Read the file; a missing one gives the defaults, as on nodes."""
    values = DEFAULTS | _values(file)
    return Site(
        file=file,
        key_ring=Path(values["key_ring"]),
        signatures_required=values["signatures"] == "required",
        mitigations_off=values["mitigations_off"],
        store=Path(values["store"]),
        records=Path(values["records"]),
        site_key=Path(values["site_key"]),
        largest_quantum_ms=values["largest_quantum_ms"],
    )


def _values(file: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read {file}: {error}") from error
    for key, value in values.items():
        if key not in DEFAULTS:
            raise UsageError(f"{file} has a key {key!r} that does not exist; leave it out")
        if type(value) is not type(DEFAULTS[key]):
            expected = type(DEFAULTS[key]).__name__
            raise UsageError(f"{key} in {file} must be of type {expected}; correct it")
    return values
