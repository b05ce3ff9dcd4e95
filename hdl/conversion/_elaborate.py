"""Elaborate one entity alone, with new ports for the caller's signals, and stubs for sub-blocks.

A configuration consists of the function, the values of its parameters, the types of its ports and
the initial values of its outputs. Private to ``merp.hdl.conversion.convert``.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from myhdl import EnumItemType, ResetSignal, Signal, intbv

from merp.hdl.conversion._locals import noted_locals
from merp.hdl.conversion._parameters import Same, Undescribed, described, is_stable, key_of
from merp.hdl.conversion.base.errors import ExportError
from merp.hdl.conversion.base.internals import (
    ALL_SIGNALS,
    AnySignal,
    Block,
    BlockDecorator,
    OpenPort,
    TristateDriver,
    TristateSignal,
    enum_of,
    initial,
)
from merp.hdl.conversion.entity import stubs
from merp.hdl.conversion.ports import apart, is_bundle, prefix_of


@dataclass(frozen=True)
class PortType:
    """The type of a port; ``low`` and ``high`` bound a vector as in MyHDL's intbv."""

    kind: str  # bool, enum, or the class of a vector: intbv, modbv
    width: int
    low: int | None
    high: int | None
    reset: tuple[bool, bool] | None  # of a ResetSignal: active level, asynchronous
    enum: Same | None = None

    @property
    def is_vector(self) -> bool:
        """Whether the port is a vector and not a single bit."""
        return self.kind != "bool"

    @property
    def signed(self) -> bool:
        """Whether the port is a signed vector."""
        return self.low is not None and self.low < 0


@dataclass
class ElaboratedUnit:
    """One elaborated configuration.

    Attributes:
        deco: the decorated block function.
        params: flattened parameters, by name.
        ports: flattened ports in the order of the signature, by name.
        block: MyHDL's instance, with stubs for the entities inside.
        scopes: local variables of every executed block function, by ``id`` of its instance.
        made: the signals that were made for it.
    """

    deco: Any
    params: dict[str, Any]
    ports: dict[str, Any]
    block: Any = None
    scopes: dict[int, dict[str, Any]] = field(default_factory=dict)
    made: list[Any] = field(default_factory=list)


def port_type(where: str, signal: Any) -> PortType:
    """Return the type of a port.

    Raises:
        ExportError: the signal has no fixed number of bits.
    """
    if isinstance(signal, TristateSignal | TristateDriver):
        raise ExportError(
            f"{where}: a tristate signal cannot be a port of an entity; give it input, "
            "output and enable, and join them at the pin"
        )
    value = signal.val
    reset = (signal.active, signal.isasync) if isinstance(signal, ResetSignal) else None
    if isinstance(value, bool):
        return PortType("bool", 1, None, None, reset)
    if isinstance(value, EnumItemType):
        return PortType("enum", len(signal), None, None, reset, Same(enum_of(value)))
    if isinstance(value, intbv) and len(signal):
        return PortType(type(value).__name__, len(signal), value.min, value.max, reset)
    raise ExportError(f"{where}: a port needs a fixed number of bits, not {value!r}")


def _clone(signal: Any) -> Any:
    value = copy.deepcopy(initial(signal))
    if isinstance(signal, ResetSignal):
        return ResetSignal(value, signal.active, signal.isasync)
    return Signal(value)


def _has_signal(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return any(_has_signal(item) for item in value)
    return isinstance(value, AnySignal) or is_bundle(value)


def _split(where: str, name: str, value: Any) -> Iterator[tuple[str, Any, bool]]:
    """Flatten an argument into (name, value, whether it is a port)."""
    if isinstance(value, AnySignal) and not isinstance(value, OpenPort):
        yield name, value, True
    elif is_bundle(value):
        for item_name, item in vars(value).items():
            yield from _split(where, f"{name}_{item_name}", item)
    elif isinstance(value, list | tuple) and _has_signal(value):
        raise ExportError(
            f"{where}: argument {name} is a list of signals; a port is one signal or a bundle"
        )
    elif is_stable(value):
        yield name, value, False
    else:
        try:
            yield name, described(value), False
        except Undescribed:
            raise ExportError(
                f"{where}: parameter {name} is a {type(value).__name__}; allowed are int, bool, "
                "str, None, enumerations and functions, and lists, dicts and objects of these"
            ) from None


def _replaced(name: str, value: Any, ports: dict[str, Any]) -> Any:
    """Return the argument with its signals replaced by those in ``ports``."""
    if isinstance(value, AnySignal):
        return ports.get(name, value)  # a port that is open is no signal
    if not is_bundle(value):
        return value
    bundle = copy.copy(value)
    for item_name, item in vars(value).items():
        inner = f"{prefix_of(name, value)}{item_name}"
        vars(bundle)[item_name] = _replaced(inner, item, ports)
    return bundle


def arguments(deco: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by parameter name, including defaults."""
    signature = inspect.signature(deco.func)
    where = deco.func.__name__
    for parameter in signature.parameters.values():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ExportError(f"{where}: an entity names each argument, not {parameter}")
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise ExportError(f"{where}: {error}") from error
    bound.apply_defaults()
    return dict(bound.arguments)


def split(deco: Any, bound: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return flattened ports and parameters of a call; those of optional bundles come last."""
    ports: dict[str, Any] = {}
    params: dict[str, Any] = {}
    last: dict[str, Any] = {}
    where = deco.func.__name__
    for name, value, optional in apart(bound):
        for flat_name, item, is_port in _split(where, name, value):
            known = ports if is_port else last if optional else params
            if flat_name in ports or flat_name in params or flat_name in last:
                raise ExportError(
                    f"{where}: two arguments flatten to the name {flat_name}; rename one of them"
                )
            known[flat_name] = item
    return ports, params | last


def configuration(deco: Any, ports: dict[str, Any], params: dict[str, Any]) -> tuple[Any, ...]:
    """Return the key of a configuration, without the initial values of its outputs."""
    where = deco.func.__name__
    return (
        deco.func,
        tuple((name, key_of(value)) for name, value in params.items()),
        tuple((name, port_type(f"{where}.{name}", sig)) for name, sig in ports.items()),
    )


def elaborate(deco: Any, bound: dict[str, Any]) -> ElaboratedUnit:
    """Run a block function once, with new ports and with stubs for the entities inside."""
    actuals, params = split(deco, bound)
    before = len(ALL_SIGNALS)
    unit = ElaboratedUnit(deco, params, {name: _clone(signal) for name, signal in actuals.items()})
    args = {name: _replaced(name, value, unit.ports) for name, value in bound.items()}

    call = inspect.BoundArguments(inspect.signature(deco.func), args)  # self is Block's own, too
    with noted_locals(unit.scopes), stubs():
        unit.block = Block(
            deco.func, deco, deco.func.__name__, deco.srcfile, deco.srcline, False,
            *call.args, **call.kwargs,
        )  # fmt: skip
    _check_unchanged(deco, bound, params)
    unit.made = ALL_SIGNALS[before:]
    return unit


def _check_unchanged(deco: Any, bound: dict[str, Any], before: dict[str, Any]) -> None:
    """Refuse a block that changes its parameters, because the result would depend on the time."""
    _, after = split(deco, bound)
    for name, value in before.items():
        if name not in after or key_of(after[name]) != key_of(value):
            raise ExportError(
                f"{deco.func.__name__}: parameter {name} is changed while the block is made; "
                "compute it before, and give signals as ports"
            )


def is_block(function: Any) -> bool:
    """Return whether ``function`` is decorated with ``@entity`` or ``@block``."""
    return isinstance(function, BlockDecorator)
