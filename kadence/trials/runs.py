# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes runs of records: the processes that toss the same coins on machines of one kind."""

from collections.abc import Iterable, Sequence

from kadence.phases.plan.trials import Arm, ArmEffect, Effect, LearnedRun, MachineKind
from kadence.trials import evidence, lines
from kadence.trials.record import Record

Identity = tuple[str, MachineKind]


def of_records(records: Iterable[Record]) -> list[LearnedRun]:
    """The runs of these records in which an arm has blocks, with the arms' effects."""
    groups: dict[Identity, list[Record]] = {}
    for record in records:
        identity = (record.header.seed, record.header.machine.kind)
        groups.setdefault(identity, []).append(record)
    found = []
    for (seed, machine), processes in sorted(groups.items(), key=lambda group: group[0]):
        arms = _arms(processes)
        if arms:
            found.append(LearnedRun(seed, machine, tuple(sorted(r.id for r in processes)), arms))
    return found


def _arms(processes: Sequence[Record]) -> tuple[ArmEffect, ...]:
    """A process in which an arm was idle says nothing about it: there, plain met plain."""
    found = []
    for arm in sorted({block.arm for one in processes for block in one.blocks}):
        busy = [one for one in processes if one.state_of(arm) != lines.IDLE]
        effect = evidence.effect_of(_blocks_of(busy, arm))
        if effect is not None:
            found.append(ArmEffect(arm, effect))
    return tuple(found)


def _blocks_of(processes: Sequence[Record], arm: Arm) -> evidence.Blocks:
    own = [[block for block in one.blocks if block.arm == arm] for one in processes]
    return evidence.joined(
        [
            ([block.difference for block in blocks], [block.bound for block in blocks])
            for blocks in own
        ]
    )


def together(parts: Sequence[Effect]) -> Effect:
    """The effect in one run of which parts were learned at different times.

    The processes of a run may be disturbed together. So their errors do not average out.
    """
    weights = [part.error**-2 for part in parts]
    shares = [weight / sum(weights) for weight in weights]
    pairs = list(zip(shares, parts, strict=True))
    return Effect(
        sum(share * part.effect for share, part in pairs),
        sum(share * part.error for share, part in pairs),
        sum(part.blocks for part in parts),
    )
