# SPDX-License-Identifier: GPL-2.0-or-later
"""Units for everybody, which are live patches of the running kernel."""

import time
from pathlib import Path

from kadence.base.errors import KadenceError, ToolError

LIVE_PATCHES = Path("/sys/kernel/livepatch")
PROCESSES = Path("/proc")
# The kernel changes sleeping tasks within a few of these.
PAUSE_SECONDS = 0.02
LONGEST_SECONDS = 10.0
# A task's patch_state while others change: it takes the originals, or the variants.
ORIGINALS, VARIANTS = "0", "1"


def installed() -> dict[str, list[str]]:
    """Name -> functions of all live patches, those of other tools too."""
    if not LIVE_PATCHES.is_dir():
        return {}
    return {each.name: _functions(each) for each in sorted(LIVE_PATCHES.iterdir())}


def _functions(patch: Path) -> list[str]:
    """Folders FUNCTION,POSITION in a folder for each patched object."""
    return sorted(folder.name.partition(",")[0] for folder in patch.glob("*/*,*"))


def disable(name: str) -> None:
    """Let everybody take the originals again, and wait until everybody does."""
    try:
        (LIVE_PATCHES / name / "enabled").write_text("0")
    except OSError as error:
        raise ToolError(f"unit {name} stays: {error.strerror}") from error
    wait(name, left=VARIANTS)


def wait(name: str, left: str) -> None:
    """Wait until no task is in the state that all leave; raise KadenceError with one that is."""
    last = time.monotonic() + LONGEST_SECONDS
    while _is_changing(name):
        if time.monotonic() > last:
            raise KadenceError(
                f"unit {name} is still being changed, because {_keeper(left)} has not left its "
                "functions; the kernel goes on, and `kadence live status` says when it is done"
            )
        time.sleep(PAUSE_SECONDS)


def _is_changing(name: str) -> bool:
    """Whether some task has not changed yet. The folder of a disabled patch disappears."""
    try:
        return (LIVE_PATCHES / name / "transition").read_text().strip() == "1"
    except OSError:
        return False


def status(name: str) -> str:
    """Whether all tasks take the patch, or which one has not changed yet."""
    if not _is_changing(name):
        return "taken by everybody"
    enabled = (LIVE_PATCHES / name / "enabled").read_text().strip() == "1"
    what = "being installed" if enabled else "being removed"
    return f"{what}; {_keeper(ORIGINALS if enabled else VARIANTS)} has not changed yet"


def _keeper(left: str) -> str:
    """A task that is still in this state."""
    for task in PROCESSES.glob("[0-9]*/task/[0-9]*"):
        try:
            if (task / "patch_state").read_text().strip() == left:
                return f"task {task.name} ({(task / 'comm').read_text().strip()})"
        except OSError:
            continue  # it has ended
    return "a task"
