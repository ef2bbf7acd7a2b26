# SPDX-License-Identifier: GPL-2.0-or-later
"""Whether tasks of a program could keep one another waiting on its future processors."""

from kadence.phases.artefact.document import Document

HELD_UP = "a task that spins or waits for another task would hold it up for a whole quantum"


def between_tasks(document: Document, processors: int) -> str | None:
    """Why tasks of this program could keep one another waiting, or None."""
    if not document.backend.tasks_seen:
        return f"how many tasks there are was not seen: {HELD_UP}"
    concurrency = document.concurrency
    tasks = concurrency.threads + concurrency.processes - 1
    means = _means(document)
    if tasks <= processors or means is None:
        return None
    return (
        f"{tasks} tasks on {counted(processors, 'processor')} {means} "
        f"({concurrency.evidence}): {HELD_UP}"
    )


def _means(document: Document) -> str | None:
    """How they could, or None if they could not."""
    if document.concurrency.shared_memory:
        return "share memory"
    if document.concurrency.synchronises:
        return "synchronise"
    return None if document.backend.kernel_seen else "may synchronise"


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """Return a number and its noun, as in `2 tasks`."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
