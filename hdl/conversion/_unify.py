"""Unify configurations of a block that differ in numbers into one entity with generics.

Configurations with further differences become alternatives of an ``if ... generate`` in the same
entity. Their ports must have the same names, except for inputs that some lack. If a port is a bit
in one configuration and a vector in another, it is a vector in all. Private to
``merp.hdl.conversion``.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from merp.hdl.conversion._affine import Generics
from merp.hdl.conversion._bits import as_vectors
from merp.hdl.conversion._common import parted
from merp.hdl.conversion._hints import hints
from merp.hdl.conversion._logarithm import Logarithm
from merp.hdl.conversion._numbers import Num
from merp.hdl.conversion._open_ports import completed
from merp.hdl.conversion._rollup import free, identifiers
from merp.hdl.conversion._shapes import body_changed, body_numbers, body_shape, port_numbers
from merp.hdl.conversion._vhdl_print import Derived, Folded, Generic
from merp.hdl.conversion._vhdl_text import INTEGERS, Module
from merp.hdl.conversion.base.names import flaw

Value = int | bool
Widening = Callable[[Sequence[Module]], tuple[list[Module], list[frozenset[str]]]]


@dataclass(frozen=True)
class Configuration:
    """An entity as it was converted: its parts, rolled up, and the parameters of its block."""

    module: Module
    params: Mapping[str, Any]


@dataclass(frozen=True)
class Unified:
    """One entity for ``configurations``, with the values of its generics in each.

    ``widened``: for each configuration, the ports that were bits and are now vectors.
    ``lacking``: for each configuration, the ports that it does not have.
    """

    folded: Folded
    values: tuple[Mapping[str, Value], ...]
    widened: tuple[frozenset[str], ...]
    lacking: tuple[frozenset[str], ...]
    modules: tuple[Module, ...]


def unified(
    configurations: Sequence[Configuration], with_vectors: Widening = as_vectors
) -> Unified:
    """Return one entity for configurations that are ``alike``, with the name of the first.

    ``with_vectors`` makes bits vectors where other configurations have vectors, in the language.
    """
    name = configurations[0].module.name
    complete, lacking = completed([each.module for each in configurations])
    modules, widened = with_vectors(complete)
    modules = [replace(module, name=name) for module in modules]
    forms: dict[Hashable, list[int]] = {}
    for place, module in enumerate(modules):
        forms.setdefault(body_shape(module), []).append(place)
    generics = _candidates(configurations, modules)
    everyone = range(len(modules))
    commons, rests = parted(modules) if len(forms) > 1 else (modules, [])
    common = body_changed(commons[0], _fitted(generics, commons, everyone))
    built: list[tuple[list[int], Module]] = []
    if len(forms) > 1:
        for places in sorted(forms.values(), key=lambda places: (len(places), places)):
            own = [rests[place] for place in places]
            built.append((places, body_changed(own[0], _fitted(generics, own, places))))
    flags = _flags(configurations, generics)
    conditions = _conditions([places for places, _ in built], generics, flags)
    order = [*flags, *(each for each in generics.known)]
    used = [each for each in order if each in generics.used]
    values = tuple(
        {each: flags[each][k] if each in flags else generics.known[each][k] for each in used}
        for k in everyone
    )
    kinds = {
        each: "boolean" if each in flags else _kind(generics.known[each], generics) for each in used
    }
    folded = Folded(
        free("form", generics.taken),
        common,
        tuple(Generic(each, kind) for each, kind in kinds.items()),
        tuple(zip(conditions, (module for _, module in built), strict=True)),
        tuple(
            _derived(each, value, generics)
            for each, value in generics.derived.items()
            if each in generics.constants
        ),
        free("is_converted", generics.taken),
        tuple(tuple(int(each) for each in row.values()) for row in values),
    )
    return Unified(folded, values, tuple(widened), tuple(lacking), tuple(modules))


def _derived(name: str, value: Logarithm, generics: Generics) -> Derived:
    row = value.of(generics.known)
    return Derived(name, _kind(row, generics), str(value), row)


def _kind(values: Sequence[int], generics: Generics) -> str:
    """Return the narrowest type, unless a signal hides its name."""
    return "positive" if min(values) > 0 and "positive" not in generics.taken else "natural"


def _fitted(generics: Generics, modules: Sequence[Module], places: Sequence[int]) -> list[Num]:
    """Express the numbers of modules of one shape by generics."""
    rows = [body_numbers(module) for module in modules]
    fitted = [
        row[0] if all(each == row[0] for each in row) else generics.fit_number(row, places, hint)
        for hint, *row in zip(hints(modules[0]), *rows, strict=True)
    ]
    ports = len(port_numbers(modules[0]))
    return [
        *(generics.spelled_out(each) for each in fitted[:ports]),
        *(generics.named(each) for each in fitted[ports:]),
    ]


def _candidates(configurations: Sequence[Configuration], modules: Sequence[Module]) -> Generics:
    """Return candidates for generics: parameters that are natural numbers, and widths of ports."""
    taken: set[str] = set()
    for module in modules:
        taken |= identifiers(module)
    known: dict[str, tuple[int, ...]] = {}

    def offer(name: str, values: Sequence[object]) -> None:
        natural = all(type(value) is int and value >= 0 for value in values)
        if natural and len(set(values)) > 1:
            while name.lower() in taken or name in known or flaw(name):
                name += "_generic"
            # A larger number is not a valid VHDL number and cannot be a generic.
            known[name] = tuple(min(int(value), INTEGERS - 1) for value in values)  # type: ignore[call-overload]

    for name in configurations[0].params:
        offer(name, [each.params.get(name) for each in configurations])
    generics = Generics(known, taken, len(modules), parameters=frozenset(known))
    for k, port in enumerate(modules[0].ports):
        if port.type.width is not None:
            widths = [module.ports[k].type.width for module in modules]
            row = tuple(-1 if w is None else w.constant for w in widths)
            if generics.derive(row, range(len(modules)), f"{port.name}_width") is None:
                offer(f"{port.name}_width", row)
    return generics


def _flags(
    configurations: Sequence[Configuration], generics: Generics
) -> dict[str, tuple[bool, ...]]:
    """Return parameters that are true in some configurations and false in others."""
    found = {}
    for name in configurations[0].params:
        values = [each.params.get(name) for each in configurations]
        if all(type(value) is bool for value in values) and len(set(values)) > 1:
            free = name
            while free.lower() in generics.taken or free in generics.known or flaw(free):
                free += "_generic"
            found[free] = tuple(bool(value) for value in values)
    return found


def _conditions(
    forms: Sequence[Sequence[int]], generics: Generics, flags: Mapping[str, tuple[bool, ...]]
) -> list[str]:
    """Return the condition of each form; it is empty for the last one."""
    if not forms:
        return []
    found: list[str] = []
    for k, places in enumerate(forms[:-1]):
        others = [place for form in forms[k + 1 :] for place in form]
        test = _flag_test(places, others, flags, generics) or _test(places, others, generics)
        if test is None:
            return _by_number(forms, generics)
        found.append(test)
    return [*found, ""]


def _flag_test(
    places: Sequence[int],
    others: Sequence[int],
    flags: Mapping[str, tuple[bool, ...]],
    generics: Generics,
) -> str | None:
    for name, values in flags.items():
        own, rest = {values[k] for k in places}, {values[k] for k in others}
        if len(own) == 1 and not own & rest:
            generics.used.add(name)
            return name if own == {True} else f"not {name}"
    return None


def _test(places: Sequence[int], others: Sequence[int], generics: Generics) -> str | None:
    """Return a condition on one or two generics that only some configurations satisfy."""
    known = sorted(generics.known.items(), key=lambda each: each[0] not in generics.used)
    for name, values in known:
        test = _compared(name, {values[k] for k in places}, {values[k] for k in others})
        if test is not None:
            generics.used.add(name)
            return test
    for name, values in known:
        own = {values[k] for k in places}
        rest = [k for k in others if values[k] in own]
        if len(own) != 1 or len(rest) == len(others):
            continue
        for second, more in known:
            test = _compared(second, {more[k] for k in places}, {more[k] for k in rest})
            if test is not None:
                generics.used |= {name, second}
                return f"{name} = {own.pop()} and {test}"
    return None


def _compared(name: str, own: set[int], rest: set[int]) -> str | None:
    if own & rest:
        return None
    if len(own) == 1:
        return f"{name} = {min(own)}"
    if max(own) < min(rest):
        return f"{name} < {min(rest)}"
    if min(own) > max(rest):
        return f"{name} > {max(rest)}"
    return None


def _by_number(forms: Sequence[Sequence[int]], generics: Generics) -> list[str]:
    """Number the forms if no parameter and no width distinguishes them."""
    name = "form_number"
    while name in generics.taken or name in generics.known:
        name += "_generic"
    values = {place: k for k, places in enumerate(forms) for place in places}
    generics.known[name] = tuple(values[place] for place in range(len(values)))
    generics.used.add(name)
    return [*(f"{name} = {k}" for k in range(len(forms) - 1)), ""]
