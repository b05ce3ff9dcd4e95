"""A top-level block as a bench sees it: its ports and the purpose of each.

Everything is derived from the bundles of the arguments. Therefore any top with the same port style
runs on the same benches: AXI4-Stream in and out, configuration bundles and a status bundle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import Any

from merp.hdl.base.interface import WIRES, Interface
from merp.hdl.base.signals import BYTE, AxiStream, Bundles, flag
from merp.hdl.conversion.base.internals import AnySignal
from merp.hdl.conversion.entity import behavioural
from merp.testbenches.block.trace import flatten
from merp.testbenches.top.described import Described, as_designs_say

CONTROL = ("clk", "rst", "start")

ARRAYS = ("rtl", "behavioural")


@dataclass(frozen=True)
class Pin:
    """A port of one signal, or a stream under its common prefix.

    Attributes:
        width: bits of the signal, or of the data of a stream.
        lanes: elements in a beat of a stream; together they have ``width`` bits.
    """

    name: str
    width: int
    lanes: int = 1

    @property
    def element(self) -> int:
        """Bits of an element."""
        return self.width // self.lanes

    @property
    def keep(self) -> int:
        """Width of ``tkeep``, which marks the valid bytes of a beat; 0 for one element a beat."""
        return self.width // BYTE if self.lanes > 1 else 0


def streams_of(name: str, value: Any) -> Iterator[tuple[str, AxiStream]]:
    """Yield each stream of an argument with the prefix of its pins.

    The argument is a stream or a bundle of streams.
    """
    if isinstance(value, AxiStream):
        yield name, value
    elif isinstance(value, Bundles):
        for key, each in vars(value).items():
            yield from streams_of(f"{name}_{key}", each)


@dataclass(frozen=True)
class TopPorts:
    """Ports of a top by purpose, named as the converter names them.

    Attributes:
        inputs: streams into the top (``s_axis_*``), by prefix.
        outputs: streams out of the top (``m_axis_*``), by prefix.
        config: run-time registers, stable from ``start`` to ``status_done``.
        status: status outputs of the top, including ``status_done``.
        arriving, leaving: wires from and to other tops of the same design.
    """

    inputs: tuple[Pin, ...]
    outputs: tuple[Pin, ...]
    config: tuple[Pin, ...]
    status: tuple[Pin, ...]
    arriving: tuple[Pin, ...] = ()
    leaving: tuple[Pin, ...] = ()

    @property
    def streams(self) -> tuple[Pin, ...]:
        """All streams, inputs first."""
        return self.inputs + self.outputs

    def signals(self) -> list[Pin]:
        """Every signal but the clock, in a fixed order."""
        pins = [Pin("rst", 1), Pin("start", 1), *self.config]
        for stream in self.streams:
            pins += [
                Pin(f"{stream.name}_tdata", stream.width),
                *(Pin(f"{stream.name}_{field}", 1) for field in ("tvalid", "tready", "tlast")),
            ]
            if stream.keep:
                pins.append(Pin(f"{stream.name}_tkeep", stream.keep))
        return [*pins, *self.status, *self.arriving, *self.leaving]

    def to_json(self) -> dict[str, list[dict[str, Any]]]:
        """The description as plain lists, for a bench in another process."""
        return {key: list(pins) for key, pins in asdict(self).items()}

    @classmethod
    def from_json(cls, plain: Mapping[str, list[dict[str, Any]]]) -> TopPorts:
        """Build the description from the output of ``to_json``."""
        return cls(**{key: tuple(Pin(**pin) for pin in pins) for key, pins in plain.items()})


@dataclass(frozen=True)
class Top:
    """A top-level block and the arguments of one elaboration.

    Attributes:
        function: the block function.
        args: its arguments by name: signals, bundles and parameters.
        describe: a function that maps the parameters to the meanings of registers and counters.
        array: ``rtl`` simulates the blocks themselves. ``behavioural`` replaces each block that
            has a behavioural model by this model. An engine that converts the top runs the
            blocks in both cases.

    Raises:
        ValueError: ``array`` is neither of the two.
    """

    function: Callable[..., Any]
    args: Mapping[str, Any]
    array: str = "rtl"
    describe: Callable[[Mapping[str, Any]], Described] = as_designs_say

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        ports: Interface,
        parameters: Mapping[str, Any],
        array: str = "rtl",
        describe: Callable[[Mapping[str, Any]], Described] = as_designs_say,
    ) -> Top:
        """Create a top whose bundles are ``ports``, with new signals for clk, rst and start."""
        control = {name: flag() for name in CONTROL}
        return cls(function, {**control, "ports": ports, **parameters}, array, describe)

    def __post_init__(self) -> None:
        """Check the value of ``array``."""
        if self.array not in ARRAYS:
            raise ValueError(f"array must be one of {', '.join(ARRAYS)}, not {self.array!r}")

    def elaboration(self) -> AbstractContextManager[None]:
        """Return the context in which a simulation must instantiate the block."""
        return behavioural() if self.array == "behavioural" else nullcontext()

    @property
    def name(self) -> str:
        """The name of the block and of its entity."""
        return self.function.__name__

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that are neither signals nor bundles."""
        return {key: value for key, value in self.args.items() if not flatten({key: value})}

    @property
    def described(self) -> Described:
        """The meanings of its registers and counters."""
        return self.describe(self.parameters)

    @property
    def interface(self) -> Interface:
        """The bundles of ports."""
        ports = self.args.get("ports")
        if isinstance(ports, Interface):
            return ports
        return Interface(
            **{
                name: value
                for name, value in self.args.items()
                if name not in CONTROL and flatten({name: value})
            }
        )

    @property
    def ports(self) -> TopPorts:
        """The ports by purpose.

        Raises:
            ValueError: the top has no clk, rst or start, no ``status_done``, or a port of a kind
                that the benches do not know.
        """
        interface = self.interface
        missing = [name for name in CONTROL if name not in self.args]
        if missing:
            raise ValueError(f"{self.name} has no port {', '.join(missing)}")
        groups = {
            "inputs": list(_streams(interface.sinks)),
            "outputs": list(_streams(interface.sources)),
            "config": list(self._registers(interface.registers)),
        }
        for name in WIRES:
            groups[name] = list(_pins({name: vars(interface).get(name)}))
        if not any(pin.name == "status_done" for pin in groups["status"]):
            raise ValueError(f"{self.name} has no status_done")
        return TopPorts(**{key: tuple(pins) for key, pins in groups.items()})

    def _registers(self, settings: Mapping[str, Any]) -> Iterator[Pin]:
        for name, value in settings.items():
            if any(True for _ in streams_of(name, value)):
                raise ValueError(f"stream {name} must be called s_axis_* or m_axis_*")
            if isinstance(value, AnySignal):
                raise ValueError(f"{self.name} has a port {name} of no known purpose")
            yield from _pins({name: value})


def _pins(bundles: Mapping[str, Any]) -> Iterator[Pin]:
    for name, signal in flatten(bundles).items():
        yield Pin(name, len(signal) or 1)


def _streams(bundles: Mapping[str, Any]) -> Iterator[Pin]:
    for name, value in bundles.items():
        for key, stream in streams_of(name, value):
            yield Pin(key, len(stream.tdata), stream.lanes)
