"""The bench of one block: a test of a block names its ports, its stimulus and its golden.

``BlockBench`` holds the block with its arguments. It drives the block in MyHDL, records every port
in every cycle, and compares runs that a reset breaks off with runs from power-up. The fixture
``replays`` (``tests/hdl/conftest.py``) repeats a run on the exported VHDL or Verilog.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from merp.hdl.base.signals import flag
from merp.testbenches.block.trace import Drive, Sample, Trace, TracedPort, flatten, run_block

__all__ = (
    "BlockBench",
    "Drive",
    "Recorded",
    "Replays",
    "Sample",
    "Session",
    "at_random",
    "columns",
)
Session = Callable[[int], Drive]
"""The stimulus of session 0, which a reset breaks off, and of session 1, the last one."""
Replays = Callable[..., int]
"""The fixture ``replays``."""


@dataclass(frozen=True)
class Recorded(Trace):
    """A trace with the columns that tests compare with a golden."""

    def columns(self, *names: str) -> list[tuple[int, ...]]:
        """The samples of several ports, a tuple in each cycle."""
        return columns(self, *names)

    def stream(self, name: str, *more: str) -> list[tuple[int, ...]]:
        """Valid, ready, data and last of a stream in each cycle, and ``more`` of its fields."""
        return self.columns(
            *(f"{name}_{each}" for each in ("valid", "ready", "data", "last", *more))
        )

    def transfers(self, name: str, *more: str) -> list[tuple[int, ...]]:
        """Cycle, data and last of each transfer on a stream, and ``more`` of its fields."""
        return [
            (cycle, *fields)
            for cycle, (valid, ready, *fields) in enumerate(self.stream(name, *more))
            if valid and ready
        ]

    def words(self, name: str, *more: str) -> list[tuple[int, ...]]:
        """Data and last of each transfer on a stream, and ``more`` of its fields."""
        return [transfer[1:] for transfer in self.transfers(name, *more)]


def columns(trace: Trace, *names: str) -> list[tuple[int, ...]]:
    """The samples of several ports of a trace, a tuple in each cycle."""
    return list(zip(*map(trace.column, names), strict=True))


class BlockBench:
    """A block and its arguments; every run has them at their initial values.

    The inputs of a block are the ports that a stimulus drives.

    Args:
        block: the block.
        flags: names of its signals of one bit, with spaces between them.
        args: its other arguments by name: signals, bundles and parameters.
    """

    def __init__(self, block: Callable[..., Any], flags: str = "", /, **args: Any) -> None:
        self.block = block
        self.args = {**{name: flag() for name in flags.split()}, **args}

    @property
    def ports(self) -> frozenset[str]:
        """The names of all ports, those of bundles with the bundle's name in front."""
        return frozenset(flatten(self.args))

    def run(
        self, stimulus: Drive | Sequence[Mapping[str, int]], cycles: int | None = None
    ) -> Recorded:
        """Simulate the block in MyHDL.

        Args:
            stimulus: the inputs of each cycle, or what gives them (see ``run_block``).
            cycles: how many; without it, one for each of the ``stimulus``.

        Raises:
            KeyError: the stimulus drives a port that the block does not have.
        """
        drive = stimulus if callable(stimulus) else lambda cycle, _: stimulus[cycle]
        driven: set[str] = set()

        def noted(cycle: int, seen: Sample) -> Mapping[str, int]:
            values = drive(cycle, seen)
            driven.update(values)
            return values

        length = len(stimulus) if cycles is None else cycles
        trace = run_block(self.block, self.args, (), noted, length, quick=True)
        ports = tuple(
            TracedPort(port.name, port.width, port.name in driven) for port in trace.ports
        )
        return Recorded(trace.block, trace.args, ports, trace.rows)

    def feed(self, **columns: Sequence[int]) -> Recorded:
        """Simulate with a new word on each of these inputs in every cycle, to the last word."""
        rows = zip(*columns.values(), strict=True)
        return self.run([dict(zip(columns, row, strict=True)) for row in rows])

    def as_new_after_reset(
        self,
        session: Session,
        cuts: Iterable[int],
        cycles: int,
        reset: str = "rst",
        *,
        payload: Mapping[str, str] | None = None,
        late: Mapping[str, int] | None = None,
    ) -> None:
        """Break sessions off by a reset, and compare the last one with the same from power-up.

        In MyHDL every register powers up with its initial value. A register that a reset leaves as
        it was is seen as soon as anything that comes out depends on it.

        Args:
            session: in its cycle 0, and in no later one, the block is in reset. The reset that
                breaks session 0 off comes with that session's inputs: it has to win over them.
            cuts: after how many cycles session 0 is broken off; each is a case of its own.
            cycles: length of the last session.
            reset: the input that resets the block.
            payload: outputs that mean something only while another one is high: their names, with
                spaces between them, by that one's name.
            late: outputs that are compared from a cycle of the last session on that is not its
                first after the reset, which is 1.

        Raises:
            AssertionError: an output differs; its name, the cycle of the session and the cut.
        """
        alone = self.run(session(1), cycles)
        names = [port.name for port in alone.ports]
        outputs = [i for i, port in enumerate(alone.ports) if not port.is_input]
        guarded = {
            names.index(name): names.index(guard)
            for guard, guards in (payload or {}).items()
            for name in guards.split()
        }
        begins = {names.index(name): cycle for name, cycle in (late or {}).items()}
        for cut in cuts:
            broken = self.run(_broken_off(session(0), session(1), cut, reset), cut + cycles)
            # The reset is at work from the edge that ends its cycle.
            for t in range(1, cycles):
                new, old = alone.rows[t], broken.rows[cut + t]
                for i in outputs:
                    if t >= begins.get(i, 1) and (i not in guarded or new[guarded[i]]):
                        assert new[i] == old[i], f"{names[i]}, cycle {t} of a session after {cut}"


def at_random(
    flags: Mapping[str, Any],
    words: Mapping[str, int] | None = None,
    fixed: Any = None,
    *,
    begin: Any = 2,
    pulses: Mapping[str, Any] | None = None,
) -> Session:
    """Sessions of a block that takes anything: a reset, a start, and then random inputs.

    What is a pair has a value for session 0 and one for session 1.

    Args:
        flags: inputs that are high at a rate, from cycle ``begin`` on.
        words: inputs of so many random bits.
        fixed: values of inputs that stay as they are.
        begin: 2 is the cycle after ``start``.
        pulses: inputs that are high in one cycle, and in which one; without it ``rst`` in cycle 0
            and ``start`` in cycle 1.
    """

    def session(number: int) -> Drive:
        def of(value: Any) -> Any:
            return value[number] if isinstance(value, tuple) else value

        def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
            rng = Random(f"{number} {cycle}")  # the same in a cycle whatever came before it
            high = {name: int(rng.random() < of(rate)) for name, rate in flags.items()}
            if cycle < of(begin):
                high = dict.fromkeys(flags, 0)
            drawn = {name: rng.getrandbits(width) for name, width in (words or {}).items()}
            when = pulses or {"rst": 0, "start": 1}
            pulsed = {name: int(cycle == of(at)) for name, at in when.items()}
            return {**(of(fixed) or {}), **high, **drawn, **pulsed}

        return drive

    return session


def _broken_off(first: Drive, last: Drive, cut: int, reset: str) -> Drive:
    def drive(cycle: int, seen: Sample) -> Mapping[str, int]:
        if cycle > cut:
            return last(cycle - cut, seen)
        if cycle == cut:
            last(0, seen)  # it may draw random numbers
            return {**first(cycle, seen), reset: 1}
        return first(cycle, seen)

    return drive
