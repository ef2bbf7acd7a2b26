# SPDX-License-Identifier: GPL-2.0-or-later
"""A security fix as a unit for everybody: installed and removed under a running job.

Debian's 6.12.113 has the fault of CVE-2026-53321, and later kernels have not.
"""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from test_kadapt_live import HERE
from test_kadapt_live_document import in_guest

from kadence.live.build import build

pytestmark = pytest.mark.kernel

FAULTY = "6.12.113+deb12-cloud-amd64"
FIXED = "6.12.117+deb12-cloud-amd64"

# The job writes what it has done; its sums must be right all the time.
SCRIPT = """
head -c 1000000 /dev/zero >@FOLDER@/zeroes
want=$(sha256sum <@FOLDER@/zeroes)
(while [ ! -e @FOLDER@/stop ]; do
	[ "$(sha256sum <@FOLDER@/zeroes)" = "$want" ] && echo right || echo wrong
done >@FOLDER@/sums) &
@NAPI@
@KADENCE@ live install napi_limit.ko || exit 91
@KADENCE@ live list
@NAPI@
@KADENCE@ live install napi_limit.ko || echo "installed twice: $?"
@KADENCE@ live remove napi_limit || exit 92
@KADENCE@ live list
@NAPI@
touch @FOLDER@/stop
wait
echo "job: $(sort @FOLDER@/sums | uniq -c | tr -s ' ')"
"""


@pytest.fixture(scope="session")
def kadence_command(root: Path) -> str:
    """The command, for a shell."""
    return shlex.join([str(root / ".venv/bin/python"), "-m", "kadence.cli"])


def test_fix_is_installed_and_removed_under_a_job(
    root: Path, kadence_command: str, guest_program: Callable[[Path], Path], tmp_path: Path
) -> None:
    build(root / "examples/units/napi_limit.c", FAULTY).write(tmp_path / "napi_limit.ko")
    script = SCRIPT.replace("@KADENCE@", kadence_command)
    script = script.replace("@NAPI@", str(guest_program(HERE / "napi.c")))
    said = in_guest(script.replace("@FOLDER@", str(tmp_path)), tmp_path, FAULTY)
    assert re.findall(r"^polls for (\d+)$", said, re.MULTILINE) == ["1000000", "10000", "1000000"]
    assert re.search(r"^napi_limit +everybody +io_register_napi$", said, re.MULTILINE), said
    assert said.count("everybody") == 1, said
    assert "napi_limit.ko was not installed" in said, said
    assert re.search(r"^job: \d+ right$", said.replace("job:  ", "job: "), re.MULTILINE), said


def test_fixed_kernel_does_not_have_the_fault(
    guest_program: Callable[[Path], Path], tmp_path: Path
) -> None:
    """The unit does what Debian's own fix does."""
    said = in_guest(str(guest_program(HERE / "napi.c")), tmp_path, FIXED)
    assert said == "polls for 10000\n"
