"""What a reset owes: a block does after it what it did from power-up on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any

from merp.testbenches.block.trace import Drive, Sample, run_block


def as_new_after_reset(
    function: Callable[..., Any],
    args: Mapping[str, Any],
    inputs: tuple[str, ...],
    session: Callable[[int], Drive],
    cuts: Iterable[int],
    cycles: int,
    reset: str = "rst",
    payload: Mapping[str, str] | None = None,
    late: Mapping[str, int] | None = None,
) -> None:
    """Break sessions off by a reset, and compare the last one with the same one from power-up.

    In MyHDL every register powers up with its initial value. A register that a reset leaves as it
    was is seen as soon as anything that comes out depends on it.

    Args:
        function, args, inputs: the block, as for ``run_block``.
        session: the stimulus of session 0, which is broken off, and of session 1, the last one;
            in its cycle 0, and in no later one, the block is in reset. The reset that breaks
            session 0 off comes with that session's inputs: it has to win over them.
        cuts: after how many cycles session 0 is broken off; each is a case of its own.
        cycles: length of the last session.
        reset: the input that resets the block.
        payload: outputs that mean something only while another one is high, by that one's name.
        late: outputs that are compared from a cycle of the last session on that is not its first
            after the reset, which is 1.

    Raises:
        AssertionError: an output differs; its name, the cycle of the session and the cut.
    """
    alone = run_block(function, args, inputs, session(1), cycles)
    names = [port.name for port in alone.ports]
    outputs = [i for i, port in enumerate(alone.ports) if not port.is_input]
    guards = {names.index(name): names.index(guard) for name, guard in (payload or {}).items()}
    begins = {names.index(name): cycle for name, cycle in (late or {}).items()}
    for cut in cuts:
        drive = _broken_off(session(0), session(1), cut, reset)
        trace = run_block(function, args, inputs, drive, cut + cycles)
        # The reset is at work from the edge that ends its cycle.
        for t in range(1, cycles):
            new, old = alone.rows[t], trace.rows[cut + t]
            for i in outputs:
                if t >= begins.get(i, 1) and (i not in guards or new[guards[i]]):
                    assert new[i] == old[i], f"{names[i]}, cycle {t} of a session after {cut}"


def at_random(
    number: int,
    fixed: Mapping[str, int],
    flags: Mapping[str, float],
    words: Mapping[str, int],
    begin: int = 2,
) -> Drive:
    """Session ``number`` of a block that takes anything: reset, start, and then random inputs.

    Args:
        number: another one has other inputs.
        fixed: inputs that stay as they are.
        flags: inputs that are high at a rate, from cycle ``begin`` on. words: inputs of so many
            random bits.
        begin: 2 is the cycle after ``start``.
    """

    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        rng = Random(f"{number} {cycle}")  # the same in a cycle whatever came before it
        values = {name: int(rng.random() < rate) for name, rate in flags.items()}
        if cycle < begin:
            values = dict.fromkeys(flags, 0)
        drawn = {name: rng.getrandbits(width) for name, width in words.items()}
        return {**fixed, **values, **drawn, "rst": int(cycle == 0), "start": int(cycle == 1)}

    return drive


def _broken_off(first: Drive, last: Drive, cut: int, reset: str) -> Drive:
    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        if cycle > cut:
            return last(cycle - cut, seen)
        if cycle == cut:
            last(0, seen)  # it may draw random numbers
            return {**first(cycle, seen), reset: 1}
        return first(cycle, seen)

    return drive
