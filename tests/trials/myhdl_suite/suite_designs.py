"""Find the designs that a test of MyHDL's own suite instantiates, and copy them."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import suite_sources as sources
from myhdl import EnumItemType, ResetSignal, Signal, intbv

from merp.hdl.conversion.base.internals import (
    ALL_BLOCKS,
    AnySignal,
    Block,
    BlockDecorator,
    Constant,
    Instantiator,
    TristateSignal,
    enum_members,
    enum_of,
    initial,
)

NO_WIDTH = "a port without a width"
NO_OUTPUT = "no output"


@dataclass(eq=False)
class Design:
    """A block with ports, as a test instantiates it.

    Attributes:
        instance: the instance of the test.
        function: the decorated function.
        args: the arguments of the instance by name.
        reasons: why it is not hardware; empty if it is.
        refusals: refusals of MyHDL's own converter, by test.
        asked: whether a test of the suite expects the refusal.
        tests: the tests that instantiate it.
        vectors: bits of all inputs, as the bench drives them one after the other.
    """

    instance: Any
    function: Any
    args: dict[str, Any]
    reasons: frozenset[str] = frozenset()
    refusals: dict[str, str] = field(default_factory=dict)
    asked: bool = False
    tests: set[str] = field(default_factory=set)
    vectors: list[tuple[int, ...]] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The function, and the function in which it is defined."""
        return str(self.function.func.__qualname__).replace(".<locals>", "")

    @property
    def line(self) -> int:
        """The first line of its source."""
        return int(self.function.srcline)

    @cached_property
    def ports(self) -> dict[str, Any]:
        """Its signals, named as the converter names ports."""
        return dict(ports_of(self.args))

    @cached_property
    def key(self) -> tuple[Any, ...]:
        """A key that is equal for two instances with the same hardware."""
        types = tuple((name, _type_of(signal)) for name, signal in self.ports.items())
        return self.name, self.line, tuple(_parameters(self.args)), types

    @property
    def outputs(self) -> frozenset[str]:
        """Names of the ports that it drives."""
        ids = self._edges_and_outputs[1]
        return frozenset(name for name, signal in self.ports.items() if id(signal) in ids)

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of all other ports."""
        return tuple(name for name in self.ports if name not in self.outputs)

    @property
    def edges(self) -> dict[str, frozenset[str]]:
        """The inputs whose edges it waits for, and which ones."""
        found = self._edges_and_outputs[0]
        return {name: found[id(self.ports[name])] for name in self.inputs
                if id(self.ports[name]) in found}  # fmt: skip

    @cached_property
    def _edges_and_outputs(self) -> tuple[dict[int, frozenset[str]], set[int]]:
        found: dict[int, frozenset[str]] = {}
        outputs: set[int] = set()

        def note(signal: Any, edge: str) -> None:
            if isinstance(signal, AnySignal):
                found[id(signal)] = found.get(id(signal), frozenset()) | {edge}

        for block in walk(self.instance):
            names = scope_of(block)
            for expression, edge in sources.edges(plain(block.func)):
                note(sources.value_of(expression, names), edge)
            for expression in sources.driven(plain(block.func)):
                outputs |= set(map(id, _flat(sources.value_of(expression, names))))
            for process in block.subs:
                if not isinstance(process, Instantiator):
                    continue
                outputs |= {
                    id(signal)
                    for name in process.outputs | process.inouts
                    for signal in _flat(process.symdict.get(name))
                }
                reset = getattr(process, "reset", None)
                if isinstance(reset, ResetSignal) and reset.isasync:
                    note(reset, "posedge" if reset.active else "negedge")
        return found, outputs

    def copied(self, values: Mapping[str, int | None]) -> dict[str, Any]:
        """Return the arguments with new signals, some of which begin with other bits."""
        own = {name: _copied(signal, values.get(name)) for name, signal in self.ports.items()}
        return {name: _exchanged(name, value, own) for name, value in self.args.items()}

    def build(self, args: Mapping[str, Any]) -> Any:
        """Return an instance with these arguments."""
        rest = dict(args)
        function = self.function
        if inspect.ismethod(self.instance.func):
            owner = rest.pop(next(iter(inspect.signature(function.func).parameters)))
            function = function.__get__(owner, type(owner))
        built = function(**rest)
        built.modctxt = True  # MyHDL infers it from the stack
        return built


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function without its object."""
    return getattr(function, "__func__", function)


def walk(block: Any) -> Iterator[Any]:
    """Yield a block and all blocks inside it."""
    yield block
    for sub in block.subs:
        if isinstance(sub, Block):
            yield from walk(sub)


def scope_of(block: Any) -> dict[str, Any]:
    """Return the objects of the names in a block function."""
    names = sources.names_in(plain(block.func))
    for sub in block.subs:
        names |= getattr(getattr(sub, "callinfo", None), "symdict", {})
    found = decorated(block)
    return names | (found[1] if found else {})


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, AnySignal):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _flat(item)


def decorated(block: Any) -> tuple[Any, dict[str, Any]] | None:
    """Return the decorated function of an instance, and its arguments by name."""
    function = block.func
    if inspect.ismethod(function):
        owner = function.__self__
        found = inspect.getattr_static(type(owner), function.__name__, None)
        args = (owner, *(() if hasattr(block, "isHdlClass") else block.args))
    else:
        known = (each for each in ALL_BLOCKS if isinstance(each, BlockDecorator))
        found = next((each for each in known if each.func is function), None)
        args = tuple(block.args)
    if not isinstance(found, BlockDecorator):
        return None
    bound = inspect.signature(found.func).bind(*args, **block.kwargs)
    bound.apply_defaults()
    return found, dict(bound.arguments)


def _is_bundle(value: Any) -> bool:
    if callable(value) or isinstance(value, Block | Instantiator | AnySignal | EnumItemType):
        return False
    return hasattr(value, "__dict__") and not isinstance(value, type)


def ports_of(args: Mapping[str, Any], around: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Yield the signals in arguments, each named by its path."""
    for name, value in args.items():
        if isinstance(value, AnySignal):
            yield name, value
        elif isinstance(value, list | tuple):
            yield from ports_of({f"{name}_{i}": item for i, item in enumerate(value)}, around)
        elif _is_bundle(value) and id(value) not in around:
            inner = {f"{name}_{key}": item for key, item in vars(value).items()}
            yield from ports_of(inner, (*around, id(value)))


def _parameters(args: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in args.items():
        if isinstance(value, bool | int | float | str | tuple | dict | None):
            yield name, repr(value)
        elif callable(value) and not isinstance(value, AnySignal):
            yield name, str(getattr(value, "__qualname__", type(value).__name__))


def _type_of(signal: Any) -> tuple[Any, ...]:
    value = initial(signal)
    low, high = getattr(value, "min", None), getattr(value, "max", None)
    reset = (signal.active, signal.isasync) if isinstance(signal, ResetSignal) else None
    return type(signal).__name__, type(value).__name__, len(signal), low, high, reset


def _copied(signal: Any, bits: int | None) -> Any:
    value = copy.deepcopy(initial(signal))
    if bits is not None:
        value = as_value(signal, bits)
    if isinstance(signal, ResetSignal):
        return ResetSignal(value, signal.active, signal.isasync)
    if isinstance(signal, TristateSignal):
        return TristateSignal(copy.deepcopy(signal.val) if value is None else value)
    return Constant(value) if isinstance(signal, Constant) else Signal(value)


def _exchanged(name: str, value: Any, own: Mapping[str, Any]) -> Any:
    if isinstance(value, AnySignal):
        return own[name]
    if isinstance(value, list | tuple) and any(key.startswith(f"{name}_") for key in own):
        return type(value)(_exchanged(f"{name}_{i}", item, own) for i, item in enumerate(value))
    if _is_bundle(value) and any(key.startswith(f"{name}_") for key in own):
        bundle = copy.copy(value)
        for key, item in vars(value).items():
            vars(bundle)[key] = _exchanged(f"{name}_{key}", item, own)
        return bundle
    return value


def bits_of(signal: Any) -> int:
    """Return the value of a signal as bits."""
    value = signal.val
    if isinstance(value, EnumItemType):
        return int(value)
    return int(value) & ((1 << (len(signal) or 1)) - 1)


def members_of(item: Any) -> list[Any]:
    """Return the members of an item's enumeration; ``int`` of each gives its bits."""
    return enum_members(enum_of(item))


def as_value(signal: Any, bits: int) -> Any:
    """Return the value of a signal from its bits."""
    value = initial(signal)
    width = len(signal) or 1
    if isinstance(value, bool):
        return bool(bits)
    if isinstance(value, EnumItemType):
        return next(each for each in members_of(value) if int(each) == bits)
    if signal.min is not None and signal.min < 0 and bits >= 1 << (width - 1):
        bits -= 1 << width
    if isinstance(value, intbv):
        own = copy.deepcopy(value)
        own[:] = bits
        return own
    return bits


def found_in(root: Any) -> list[Design]:
    """Return the designs in a converted or simulated object; none in a bench without one."""
    found = decorated(root)
    function = plain(root.func)
    if found is None or sources.is_library(function):
        return _best(_inside(root))
    own = sources.reasons(function)
    design = Design(root, *found)
    if not design.ports:
        return _best(_inside(root))
    if own & sources.OF_BENCHES:
        inner = _best(_inside(root))
        if any(not each.reasons & sources.OF_BENCHES for each in inner):
            return inner
    design.reasons = frozenset(_all_reasons(design))
    is_check = NO_OUTPUT in design.reasons and design.reasons & sources.OF_BENCHES
    return [] if is_check else [design]


def _inside(root: Any) -> list[Design]:
    return [each for sub in root.subs if isinstance(sub, Block) for each in found_in(sub)]


def _best(found: list[Design]) -> list[Design]:
    """Remove the stimuli and checks of a bench."""
    ranks: list[Callable[[Design], object]] = [
        lambda design: not design.reasons,
        lambda design: not design.reasons & sources.OF_BENCHES,
        lambda design: not design.reasons & (sources.OF_BENCHES - {"delay"}),
    ]
    for rank in ranks:
        chosen = [design for design in found if rank(design)]
        if chosen:
            return chosen
    return found


def _all_reasons(design: Design) -> Iterator[str]:
    for block in walk(design.instance):
        function = plain(block.func)
        if not sources.is_library(function):
            yield from sources.reasons(function)
    for signal in design.ports.values():
        if isinstance(signal, TristateSignal):
            continue
        value = initial(signal)
        if not isinstance(value, bool | EnumItemType) and not len(signal):
            yield NO_WIDTH
    if not design.outputs:
        yield NO_OUTPUT


def blocks_in(args: Iterable[Any]) -> Iterator[Any]:
    """Yield the blocks among the arguments of a simulation."""
    for arg in args:
        if isinstance(arg, Block):
            yield arg
        elif isinstance(arg, list | tuple | set):
            yield from blocks_in(arg)
