"""Find the instances and signals of a design by name, in a simulation as in its export.

Both use the same rules and name objects after the variables of the Python source. Therefore a path
through the hierarchy has the same meaning in MyHDL, VHDL and Verilog.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from myhdl import intbv

from merp.hdl.conversion._blocks import name_blocks, parts, used_signals, walk
from merp.hdl.conversion._elaborate import ElaboratedUnit, arguments, split
from merp.hdl.conversion._locals import in_source_order, noted_locals
from merp.hdl.conversion._signals import span
from merp.hdl.conversion.base.internals import AnySignal, Block, SliceSignal, memory_is_used
from merp.hdl.conversion.base.names import Names
from merp.hdl.conversion.entity import is_entity


@dataclass(frozen=True)
class Scope:
    """An instance of an entity.

    Attributes:
        inside: the instances directly inside, by name.
        signals: its ports and the signals declared in it, by name. Lists that processes use as
            memories are omitted.
        entity: the name of its entity in an export; empty in a simulation.
    """

    inside: Mapping[str, Scope]
    signals: Mapping[str, Any]
    entity: str = ""

    def paths(self, *above: str) -> Iterator[tuple[tuple[str, ...], Any]]:
        """Yield every signal here and below, with its path, which begins with ``above``."""
        for name, signal in self.signals.items():
            yield (*above, name), signal
        for name, scope in self.inside.items():
            yield from scope.paths(*above, name)


def elaborated(instantiate: Callable[[], Any]) -> tuple[Any, Scope]:
    """Instantiate an entity for simulation; return the instance and its tree.

    Instances and signals have the names that an export gives them. Signals that nothing reads or
    drives are not exported, but have names here.
    """
    scopes: dict[int, dict[str, Any]] = {}
    with noted_locals(scopes):
        instance = instantiate()
    return instance, _scope(instance, scopes)


def _scope(instance: Any, scopes: dict[int, dict[str, Any]]) -> Scope:
    ports = _ports(instance)
    name_blocks(ElaboratedUnit(instance, {}, ports, instance, scopes))
    names = Names()
    signals: dict[str, Any] = {}
    named: set[int] = set()

    def declare(name: str, signal: Any) -> None:
        fixed = isinstance(signal.val, bool) or (isinstance(signal.val, intbv) and len(signal))
        if fixed and id(signal) not in named:
            named.add(id(signal))
            signals[names.unique(name)] = signal

    for name, signal in ports.items():
        names.claim(name)
        named.add(id(signal))
        signals[name] = signal
    blocks = list(walk(instance))
    for prefix, block in blocks:
        used = used_signals(block)
        memories = {id(each.mem) for each in block.memdict.values() if memory_is_used(each)}
        at_calls = in_source_order(block.func.__code__, block.sigdict)
        variables = [*scopes.get(id(block), {}).items(), *at_calls.items()]
        # Lists and bundles name their signals; each remaining signal has its own variable.
        variables.sort(key=lambda variable: isinstance(variable[1], AnySignal))
        for name, value in variables:
            for found, signal in parts(f"{prefix}{name}", value, memories):
                if not isinstance(signal, SliceSignal) or id(signal) in used:
                    declare(found, signal)
    inside = [
        sub
        for _, block in blocks
        for sub in block.subs
        if isinstance(sub, Block) and is_entity(sub)
    ]
    for sub in inside:  # a signal without a variable is named after its port
        for formal, actual in _ports(sub).items():
            declare(f"{sub.name}_{formal}", span(actual)[0])
    return Scope({names.unique(sub.name, "inst"): _scope(sub, scopes) for sub in inside}, signals)


def _ports(instance: Any) -> dict[str, Any]:
    """Return the signals that are connected to an instance, by port."""
    ports, _ = split(instance, arguments(instance, instance.args, instance.kwargs))
    return ports
