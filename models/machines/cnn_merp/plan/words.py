"""The traffic of each port in one pass, in words or bytes, and of all passes by formula.

A port's words over all passes are those of the count board:

- Every part of the output maps reads the input maps again.
- Every part of the input maps but the last writes partial sums.
- Every part of the input maps but the first reads partial sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import NamedTuple

from merp.models.machines.cnn_merp.plan.fused_ports import chained
from merp.models.machines.cnn_merp.plan.work import PhaseWork, delta_out_words
from merp.models.network.network import Layer
from merp.models.network.phases import PAIR
from merp.models.traffic.count import activation_bits, state_written_bytes


class Pass(NamedTuple):
    """One pass of a group: input maps ``in_start`` to ``in_end``, output maps in the same form."""

    in_start: int
    in_end: int
    out_start: int
    out_end: int


def parts(maps: int, size: int) -> Iterator[tuple[int, int]]:
    """Cut maps into parts of a size; the last part has the rest."""
    for start in range(0, maps, size):
        yield start, min(maps, start + size)


def passes(work: PhaseWork, in_size: int, out_size: int) -> Iterator[Pass]:
    """Yield the passes of a group in order: output parts outside, input parts inside and
    ascending.
    """
    for out_start, out_end in parts(work.outputs, out_size):
        for in_start, in_end in parts(work.inputs, in_size):
            yield Pass(in_start, in_end, out_start, out_end)


def _share(total: int, start: int, end: int, maps: int) -> int:
    """Return the share of some maps in ``total`` words; flattened maps need not divide evenly."""
    return total * end // maps - total * start // maps


def pass_bytes(work: PhaseWork, one: Pass) -> dict[str, int]:
    """Return the bytes through each port in a pass of one group, in the order in, out,
    parameters.
    """
    if work.halves is not None:
        if work.phase == PAIR:
            first, second = map(whole_bytes, work.halves)
            return chained(first, second, work.side_by_side)
        propagation, update = work.halves
        mirrored = Pass(one.out_start, one.out_end, one.in_start, one.in_end)
        return _once(pass_bytes(propagation, mirrored), pass_bytes(update, one))
    each = {"fp": _forward, "dp": _delta, "ku": _update}[work.phase](work, one)
    return _bytes(work, each)


def whole_bytes(work: PhaseWork) -> dict[str, int]:
    """Return the same bytes of a pass that has all maps of a group."""
    return pass_bytes(work, Pass(0, work.inputs, 0, work.outputs))


def _once(propagation: Mapping[str, int], update: Mapping[str, int]) -> dict[str, int]:
    """Return the bytes of both halves of a whole layer in one pass; shared inputs are read once."""
    return {**propagation, **update}


def _bytes(work: PhaseWork, words: Mapping[str, int]) -> dict[str, int]:
    """Return the bytes of the ports with nonzero words."""
    return {port: count * work.word_bytes(port) for port, count in words.items() if count}


def _kernels(work: PhaseWork, one: Pass) -> int:
    taps = 1 if work.folded else work.shape.k**2
    return taps * work.elements(one.in_start, one.in_end) * (one.out_end - one.out_start)


def _sums(work: PhaseWork, one: Pass) -> dict[str, int]:
    """Return partial sums: read by all input parts but the first, written by all but the last.

    If the first part starts at a stream, this is included.
    """
    sums = work.positions * (one.out_end - one.out_start)
    found = {
        "partial_in": sums if one.in_start else 0,
        "partial_out": sums if one.in_end < work.inputs else 0,
    }
    return found if one.in_start else found | _start(work, one)


def _start(work: PhaseWork, one: Pass) -> dict[str, int]:
    """Return the start of the sums: a stored delta, with the mask that expands it."""
    if not work.begun:
        return {}
    if work.beside is None:
        return {"add_in": work.positions * (one.out_end - one.out_start)}
    beside, groups = work.beside, work.layer.groups
    stored = work.images * beside.outputs // groups
    share = _share(stored, one.out_start, one.out_end, work.outputs)
    return {"add_in": share, "add_state_in": _state_beside(work, beside, one)}


def _state_beside(work: PhaseWork, beside: Layer, one: Pass) -> int:
    """Return the mask of some maps of a layer at whose delta sums start; flattened maps may be
    cut.
    """
    of_group = beside.biases // work.layer.groups
    if work.outputs == of_group:
        return work.state_of(beside, one.out_end - one.out_start)
    whole = work.state_of(beside, of_group)
    return _share(whole, one.out_start, one.out_end, work.outputs)


def _forward(work: PhaseWork, one: Pass) -> dict[str, int]:
    shape, images = work.shape, work.images
    outputs = one.out_end - one.out_start
    last = one.in_end == work.inputs
    elements = shape.rows * shape.columns * work.elements(one.in_start, one.in_end)
    state = 0
    if state_written_bytes(shape, images, work.state, activation_bits(work.engine)):
        state = work.state_of(work.layer, outputs)
    pooled = images * outputs * shape.pooled_rows * shape.pooled_columns
    return {
        "map_in": images * elements,
        **_sums(work, one),
        "map_out": pooled if last else 0,
        "state_out": state if last else 0,
        "kernel": _kernels(work, one),
        "bias": 0 if one.in_start else outputs,
    }


def _delta_words(work: PhaseWork, maps: int) -> int:
    """Return the delta words of maps of the layer's output, as they are stored, of all images."""
    shape = work.stored.shape
    if work.pooled:
        return work.images * maps * shape.pooled_rows * shape.pooled_columns
    return work.images * maps * shape.out_rows * shape.out_columns


def _delta(work: PhaseWork, one: Pass) -> dict[str, int]:
    assert work.earlier is not None
    maps = work.elements(one.in_start, one.in_end)
    last = one.in_end == work.inputs
    leaving = work.images * delta_out_words(work.layer, work.earlier, work.pooled)
    return {
        "delta_in": _delta_words(work, maps),
        "state_in": _delta_state(work, one, maps),
        **_sums(work, one),
        "delta_out": _share(leaving, one.out_start, one.out_end, work.outputs) * last,
        "kernel": _kernels(work, one),
    }


def _delta_state(work: PhaseWork, one: Pass, maps: int) -> int:
    """Return the mask that expands the deltas of a pass, or undoes the layer in front in the last
    one.
    """
    if work.pooled:
        return work.state_of(work.stored, maps)
    assert work.earlier is not None
    return _state_beside(work, work.earlier, one) if one.in_end == work.inputs else 0


def _update(work: PhaseWork, one: Pass) -> dict[str, int]:
    shape = work.shape
    outputs = one.out_end - one.out_start
    elements = shape.rows * shape.columns * work.elements(one.in_start, one.in_end)
    kernels, biases = _kernels(work, one), 0 if one.in_start else outputs
    return {
        "map_in": work.images * elements,
        "delta_in": _delta_words(work, outputs),
        "state_in": work.state_of(work.stored, outputs) if work.pooled else 0,
        "kernel": kernels,
        "bias": biases,
        "kernel_out": kernels,
        "bias_out": biases,
    }


def with_velocities(work: PhaseWork, ports: Mapping[str, int]) -> dict[str, int]:
    """Return the bytes of a kernel update with momentum: each port of parameters has one of
    velocities.

    ports: bytes without velocities, of one pass or of all.
    """
    sides = {"kernel": "in", "bias": "in", "kernel_out": "out", "bias_out": "out"}
    words = {
        f"{port.removesuffix('_out')}_velocity_{side}": ports[port] // work.word_bytes(port)
        for port, side in sides.items()
        if port in ports
    }
    return dict(ports) | _bytes(work, words)


def summed(work: PhaseWork, in_size: int, out_size: int) -> dict[str, int]:
    """Return the bytes of each port over all passes of all groups."""
    total: dict[str, int] = {}
    for one in passes(work, in_size, out_size):
        for port, count in pass_bytes(work, one).items():
            total[port] = total.get(port, 0) + work.layer.groups * count
    return total


def closed_form(work: PhaseWork, in_size: int, out_size: int) -> dict[str, int]:
    """Return the same bytes by formula: maps times parts, and the mask of each part in whole
    bytes.
    """
    if work.halves is not None:
        if work.phase == PAIR:
            first, second = (closed_form(half, *half.whole) for half in work.halves)
            return chained(first, second, 1)
        propagation, update = work.halves
        return _once(
            closed_form(propagation, out_size, in_size), closed_form(update, in_size, out_size)
        )
    layer, images = work.layer, work.images
    in_parts, out_parts = -(-work.inputs // in_size), -(-work.outputs // out_size)
    x, pooled = images * layer.inputs, images * layer.outputs
    kernels, biases = layer.kernels, layer.biases
    partial = layer.groups * work.positions * work.outputs * (in_parts - 1)
    delta = images * (work.stored.outputs if work.pooled else layer.sums)
    state = layer.groups * _state(work, in_size, out_size)
    if work.phase == "fp":
        found = {
            "map_in": out_parts * x, "partial_in": partial, "partial_out": partial,
            "map_out": pooled, "state_out": state, "kernel": kernels, "bias": biases,
        }  # fmt: skip
    elif work.phase == "ku":
        found = {
            "map_in": out_parts * x, "delta_in": in_parts * delta, "state_in": in_parts * state,
            "kernel": kernels, "bias": biases, "kernel_out": kernels, "bias_out": biases,
        }  # fmt: skip
    else:
        assert work.earlier is not None
        out = delta_out_words(layer, work.earlier, work.pooled)
        found = {
            "delta_in": out_parts * delta,
            "state_in": out_parts * state if work.pooled else state,
            "partial_in": partial, "partial_out": partial,
            "delta_out": images * layer.groups * out, "kernel": kernels,
        }  # fmt: skip
    return _bytes(work, found | _whole_start(work, out_size))


def _whole_start(work: PhaseWork, out_size: int) -> dict[str, int]:
    """Return the starts of the sums of all parts of the outputs."""
    layer = work.layer
    if not work.begun:
        return {}
    if work.beside is None:
        return {"add_in": work.images * (layer.sums if work.phase == "fp" else layer.inputs)}
    of_group = work.beside.biases // layer.groups
    state = work.state_of(work.beside, of_group)
    if work.outputs == of_group:
        state = _of_parts(work.outputs, out_size, partial(work.state_of, work.beside))
    return {
        "add_in": work.images * work.beside.outputs,
        "add_state_in": layer.groups * state,
    }


def _state(work: PhaseWork, in_size: int, out_size: int) -> int:
    """Return the bytes of a group's mask, once, each part of it filled up to whole bytes."""
    if work.phase == "fp":
        written = state_written_bytes(
            work.shape, work.images, work.state, activation_bits(work.engine)
        )
        return (
            _of_parts(work.outputs, out_size, partial(work.state_of, work.layer)) if written else 0
        )
    if work.pooled:
        if work.phase == "ku":
            return _of_parts(work.outputs, out_size, partial(work.state_of, work.stored))
        size = in_size * (work.engine.taps if work.folded else 1)
        return _of_parts(work.elements_in, size, partial(work.state_of, work.stored))
    if work.phase == "ku":
        return 0
    assert work.earlier is not None
    of_group = work.earlier.biases // work.layer.groups
    if work.outputs == of_group:
        return _of_parts(work.outputs, out_size, partial(work.state_of, work.earlier))
    return work.state_of(work.earlier, of_group)


def _of_parts(maps: int, size: int, count: Callable[[int], int]) -> int:
    """Return the sum of a count over parts of a size; all but the last have equal maps."""
    whole = (maps - 1) // size
    return whole * count(size) + count(maps - whole * size)
