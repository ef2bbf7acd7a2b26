# SPDX-License-Identifier: GPL-2.0-or-later
"""The administrator's file, as the node's part reads it (node/site/site.cc)."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from kadence.base import resources
from kadence.base.errors import UsageError

DEFAULT = Path("/etc/kadence/site.toml")
COMPLAINT = "kadence: "


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
    words = [str(resources.built("slurm/kadence-node")), "--site", str(file), "site"]
    completed = subprocess.run(words, capture_output=True, text=True, check=False)
    if completed.returncode:
        raise UsageError(completed.stderr.strip().removeprefix(COMPLAINT))
    values = json.loads(completed.stdout)
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
