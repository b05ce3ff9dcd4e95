"""Passes of the whole array, and their output words by the definition of the layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product

import numpy as np
from numpy.typing import NDArray

from merp.hdl.mac_array.phases.trainer import trainer
from merp.hdl.mac_array.ports.trainer_ports import TrainerPorts
from merp.models.machines.mac_array.circulant import Words
from merp.models.machines.mac_array.fixed_update import (
    ArrayGradient,
    accumulated,
    bits_of_update,
    increments,
    updated,
)
from merp.models.machines.mac_array.orders import (
    outputs_of_delta,
    outputs_of_forward,
    pooling_in,
    update_parameters,
)
from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import WORD_BITS, ArrayDesign
from merp.models.machines.mac_array.params.output_registers import output_table
from merp.models.machines.mac_array.params.pass_registers import supply_registers
from merp.models.machines.mac_array.params.pass_run import PassRun
from merp.models.machines.mac_array.params.unpool_registers import UNPOOL
from merp.models.machines.mac_array.params.unpool_run import ArrayUnpoolRun
from merp.models.machines.mac_array.params.update_registers import ArrayUpdateRun, update_table
from merp.testbenches.mac_array.described import described
from merp.testbenches.mac_array.supply_bench import SuppliedPass, beat_words
from merp.testbenches.mac_array.words import clipped, nearest
from merp.testbenches.top.run import Run
from merp.testbenches.top.top import Top

MAPS = "m_axis_map"
ORDERS = {"fp": outputs_of_forward, "dp": outputs_of_delta, "upsample": pooling_in}
"""Orders of the atoms at this port, by phase."""

KINDS = ("gradient", "kernel", "velocity")
"""Parameters that a pass of KU outputs, each on the port of its name."""


def kinds_of(design: ArrayDesign) -> tuple[str, ...]:
    """Return the kinds of parameters that have ports."""
    return KINDS if design.momentum else KINDS[:2]


def trainer_top(design: ArrayDesign, array: str = "behavioural") -> Top:
    """Return the array as a top for the benches."""
    return Top.of(trainer, TrainerPorts(design), {"design": design}, array, described)


def run_of(
    layer: SuppliedPass,
    design: ArrayDesign,
    stalls: Mapping[str, Sequence[int]] | None = None,
    reset_at: int | None = None,
) -> Run:
    """Return the run of a pass, with its words."""
    mask = (1 << WORD_BITS) - 1
    none, noise = np.empty(0, np.int64), np.random.default_rng([layer.seed, 4])
    supplied = layer.streams(design)
    words = {f"s_axis_{kind}": none for kind in kinds_of(design)}
    words |= {
        "s_axis_map": supplied["maps"], "s_axis_delta": supplied["deltas"],
        "s_axis_kernel": supplied["parameters"],
    }  # fmt: skip
    if design.loss:
        target = [target_of(layer)] if layer.work.loss else []
        words["s_axis_target"] = np.array(target, np.int64)
    if layer.work.phase == "ku":
        words |= {
            f"s_axis_{kind}": beat_words(
                update_parameters(layer.work, design), design, *parameters(layer, kind), noise
            )
            for kind in kinds_of(design)
            if comes(layer.work, kind)
        }
    return Run(
        config=registers(layer.work, design),
        words={name: (beats.reshape(-1) & mask).astype(np.uint64) for name, beats in words.items()},
        stalls=stalls or {},
        reset_at=reset_at,
    )


def registers(work: ArrayPass, design: ArrayDesign) -> dict[str, int]:
    """Return the value of every register; unused registers have their minimum."""
    outputs, updates = output_table(design), update_table(design)
    settings = {
        **outputs.settings(design), **updates.settings(design), **UNPOOL.settings(design)
    }  # fmt: skip
    values = {name: setting.least for name, setting in settings.items()}
    if work.phase == "ku":
        values |= updates.values(ArrayUpdateRun(work, design))
    elif work.phase != "upsample":
        values |= outputs.values(PassRun(work, design))
    if work.expands:
        values |= UNPOOL.values(ArrayUnpoolRun(work, design))
    return values | supply_registers(work, design)


def target_of(layer: SuppliedPass) -> int:
    """Return the index of the correct class."""
    return layer.seed % layer.work.outputs


def derivatives(layer: SuppliedPass) -> list[int]:
    """Return the delta of the loss for each output, rounded but not clipped."""
    work, one = layer.work, 1 << layer.work.one_shift
    found = []
    for output, y in enumerate(results(layer)[:, 0, 0].tolist()):
        hit = output == target_of(layer)
        if work.loss == "squared":
            exact = y - one * hit
        else:
            t = 1 if hit else -1
            exact = -2 * t * max(0, one - t * y)
        found.append(nearest(exact, work.loss_shift))
    return found


def comes(work: ArrayPass, kind: str) -> bool:
    """Whether a pass reads parameters of a kind."""
    if kind == "gradient":
        return not work.first
    return work.last and (kind == "kernel" or work.has_momentum)


def parameters(layer: SuppliedPass, kind: str) -> tuple[Words, Words]:
    """Return the parameters of a kind before a pass of KU.

    They are an array for the kernels (output maps, input maps, taps) and one for the biases.
    """
    if kind == "kernel":
        return layer.kernels, layer.biases
    rng = np.random.default_rng([layer.seed, 3, KINDS.index(kind)])
    shapes = layer.kernels.shape, layer.biases.shape
    kernels, biases = (rng.integers(-32768, 32768, shape) for shape in shapes)
    return kernels, biases


def updates(layer: SuppliedPass, design: ArrayDesign) -> tuple[dict[str, Words], dict[str, int]]:
    """Return the output beats of a pass of KU and the number of clipped words, by kind.

    Lanes without an output map are 0.
    """
    work = layer.work
    maps, deltas = (words.transpose(1, 2, 0)[None] for words in (layer.maps, layer.deltas))
    found: dict[str, list[Words]] = {kind: [] for kind in KINDS}
    counts = dict.fromkeys(KINDS, 0)
    bits = bits_of_update(work, design) if work.stochastic else (None, None)
    old = {kind: parameters(layer, kind) for kind in KINDS}
    for place, increment in enumerate(increments(work, _word(maps), _word(deltas))):
        before = {
            kind: _word(pair[place]).reshape(increment.shape[1:]) for kind, pair in old.items()
        }
        gradient = accumulated(
            increment, None if work.first else ArrayGradient(before["gradient"], 0)
        )
        step = updated(
            work, before["kernel"], before["velocity"] * work.has_momentum, gradient.words,
            bits[place],
        )  # fmt: skip
        clipped_here = gradient.clipped, step.kernels_clipped, step.velocities_clipped
        words_here = gradient.words, step.kernels, step.velocities
        for kind, words, clips in zip(KINDS, words_here, clipped_here, strict=True):
            found[kind].append(words.astype(np.int64))
            counts[kind] += clips * (work.last or kind == "gradient")
    beats = {}
    for kind in kinds_of(design):
        if leaves(work, kind):
            kernels, biases = found[kind]
            flat = kernels.reshape(layer.kernels.shape)
            beats[kind] = beat_words(update_parameters(work, design), design, flat, biases, None)
    return beats, counts


def _word(numbers: Words) -> NDArray[np.int16]:
    return numbers.astype(np.int16)


def leaves(work: ArrayPass, kind: str) -> bool:
    """Whether a pass outputs parameters of a kind."""
    return not work.last if kind == "gradient" else comes(work, kind)


def owned(layer: SuppliedPass, design: ArrayDesign) -> Words:
    """Return a mask of the words of KU's beats that belong to an output map."""
    ones = np.ones_like(layer.kernels), np.ones_like(layer.biases)
    return beat_words(update_parameters(layer.work, design), design, *ones, None) == 1


def sums(layer: SuppliedPass) -> Words:
    """Calculate the exact sums of a pass, (maps, rows, columns); in FP with biases."""
    work, k, pad = layer.work, layer.work.kernel, layer.work.pad
    rows, columns = work.out_rows, work.out_columns
    kernels = layer.kernels.reshape(*layer.kernels.shape[:2], k, k)
    whole = np.zeros((work.inputs, work.rows + 2 * pad, work.columns + 2 * pad), np.int64)
    if work.phase == "dp":
        for y, x in product(range(k), range(k)):
            met = whole[:, y :: work.stride, x :: work.stride][:, :rows, :columns]
            met += np.einsum("oi,orc->irc", kernels[:, :, y, x], layer.maps)
        return whole[:, pad : pad + work.rows, pad : pad + work.columns]
    whole[:, pad : pad + work.rows, pad : pad + work.columns] = layer.maps
    total = np.zeros((work.outputs, rows, columns), np.int64)
    for y, x in product(range(k), range(k)):
        window = whole[:, y :: work.stride, x :: work.stride][:, :rows, :columns]
        total += np.einsum("oi,irc->orc", kernels[:, :, y, x], window)
    total += (layer.biases << work.bias_shift)[:, None, None]
    return total


def windows(maps: Words, g: int) -> Words:
    """Return the elements of every complete pooling window in raster order.

    The shape is (maps, rows, columns, g * g).
    """
    high, wide = maps.shape[1] // g, maps.shape[2] // g
    kept = maps[:, : high * g, : wide * g].reshape(len(maps), high, g, wide, g)
    return kept.transpose(0, 1, 3, 2, 4).reshape(len(maps), high, wide, g * g)


def unpooled(layer: SuppliedPass, front: SuppliedPass) -> Words:
    """Place each delta at the first maximum of its window in the FP pass ``front``, 0 elsewhere.

    The result omits rows and columns of sums outside complete windows.
    """
    g = layer.work.pool
    places = windows(rounded_maps(front), g).argmax(axis=-1)
    _, high, wide = places.shape
    found = np.zeros((len(places), high * g, wide * g), np.int64)
    at = np.indices(places.shape)
    found[at[0], at[1] * g + places // g, at[2] * g + places % g] = layer.maps
    return found


def expanded(layer: SuppliedPass, front: SuppliedPass) -> SuppliedPass:
    """Return a pass of DP or KU with the deltas of the sums in place of the pooled deltas.

    Deltas outside the pooling windows are 0.
    """
    work = layer.work
    pooled = layer.deltas if work.phase == "ku" else layer.maps
    found = unpooled(replace(layer, maps=pooled), front)
    rows, columns = work.out_rows - found.shape[1], work.out_columns - found.shape[2]
    whole = np.pad(found, ((0, 0), (0, rows), (0, columns)))
    shown = replace(layer, work=replace(work, fused=False))
    return replace(shown, deltas=whole) if work.phase == "ku" else replace(shown, maps=whole)


def rounded_maps(layer: SuppliedPass) -> Words:
    """Calculate the output words of a pass before pooling or the mask."""
    work = layer.work
    totals = sums(layer)
    rounded = [clipped(nearest(int(total), work.shift)) for total in totals.reshape(-1)]
    maps: Words = np.array(rounded).reshape(totals.shape)
    if not work.relu or work.phase != "fp":
        return maps
    return np.clip(maps, 0, min(work.limit, 32767))


def results(layer: SuppliedPass, mask: Words | None = None) -> Words:
    """Calculate the output maps: rounded and clipped, with ReLU and maxima, or with the mask."""
    work = layer.work
    maps = rounded_maps(layer)
    if work.phase == "dp":
        return maps if mask is None or not work.relu else np.where(mask, maps, 0)
    return windows(maps, work.pool if work.fused else 1).max(axis=-1)


def saturations(layer: SuppliedPass) -> int:
    """Count the clipped words of a pass."""
    rounded = [nearest(int(total), layer.work.shift) for total in sums(layer).reshape(-1)]
    return sum(each != clipped(each) for each in rounded)


def maps_of(words: Sequence[int], layer: SuppliedPass, design: ArrayDesign, like: Words) -> Words:
    """Arrange the words of the output port as maps of the shape of ``like``.

    Words after the last column of a row are omitted.
    """
    got = np.full((*like.shape[:2], design.column_blocks(like.shape[2]) * design.pox), 1 << 20)
    atoms = np.array(words, np.int64).reshape(-1, design.pox)
    order = ORDERS[layer.work.phase]
    places = list(order(layer.work, design))
    assert len(atoms) == len(places), f"{len(atoms)} atoms, not {len(places)}"
    for atom, (each_map, row, block) in zip(atoms, places, strict=True):
        got[each_map, row, block * design.pox : (block + 1) * design.pox] = atom
    signed = got - ((got >> WORD_BITS - 1 & 1) << WORD_BITS)
    return signed[:, :, : like.shape[2]]
