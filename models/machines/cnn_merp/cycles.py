"""Cycles of a phase of a layer over a batch, by the flow-control model and the ports' rates.

The walks of ``flow`` and ``update_flow`` are checked against the hardware to the cycle. After a few
images every further pair of images costs the same, so a batch is extrapolated. The outputs after
the walk of FP and DP are limited to one word per cycle. If pooled words are output in bursts, this
is slightly less than the time of the hardware.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from functools import lru_cache
from typing import Any

from merp.models.base.delta_shape import delta_shape
from merp.models.base.folded_shape import FoldedShape, run_shape
from merp.models.base.fused_shape import FusedShape
from merp.models.base.input_part import ADDING, WHOLE, InputPart
from merp.models.base.rates import PLAIN, UpdateRule
from merp.models.base.shape import Shape
from merp.models.machines.cnn_merp.backward_flow import KERNEL_RETURN, BackwardFlow, backward_flow
from merp.models.machines.cnn_merp.cycle_causes import BackwardCycles, Cycles, FusedCycles
from merp.models.machines.cnn_merp.designs import design_of
from merp.models.machines.cnn_merp.flow import InputFlow, added_flow, continued_flow, input_flow
from merp.models.machines.cnn_merp.fused_flow import FORK_LATENCY, FusedFlow, fused_flow
from merp.models.machines.cnn_merp.fused_pair import fused_design, fused_layers, fused_shape
from merp.models.machines.cnn_merp.kernel_load import delta_load, forward_load
from merp.models.machines.cnn_merp.late_flow import late_flow
from merp.models.machines.cnn_merp.one_pass import backward_design
from merp.models.machines.cnn_merp.params.backward_design import BackwardDesign
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.params.fused_design import FusedDesign
from merp.models.machines.cnn_merp.params.latencies import SLOT
from merp.models.machines.cnn_merp.params.sizing import beats_of, groups_of
from merp.models.machines.cnn_merp.phases import delta_design, maps_behind, update_design
from merp.models.machines.cnn_merp.update_flow import (
    UpdateFlow,
    gradients_there,
    read_out,
    update_flow,
)
from merp.models.network.branches import begun, behind
from merp.models.network.network import Layer, Network
from merp.models.network.phases import NAMED, ONE_PASS, PAIR, has_phase


def layer_cycles(network: Network, layer: Layer, phase: str, batch: int) -> Cycles | None:
    """Return the cycles of ``phase`` over all groups, in as many runs as the design needs.

    The result is None if the layer has no design, or no such phase (DP of the first layer).
    """
    if layer.design is None or not has_phase(network, layer, phase):
        return None
    if phase == PAIR:
        return fused_layer_cycles(network, batch)
    of = {"fp": _forward, "dp": _delta, "ku": _update, ONE_PASS: _backward}
    run = of[phase](network, layer)
    whole, rest = divmod(batch, design_of(network, layer).max_images)
    cycles = [run(design_of(network, layer).max_images).times(whole)] if whole else []
    cycles += [run(rest)] if rest else []
    summed = cycles[0] if len(cycles) == 1 else cycles[0].plus(cycles[1])
    return summed.times(layer.groups)


def fused_layer_cycles(network: Network, batch: int) -> Cycles:
    """Return the cycles of the two layers that ``network`` fuses, over all groups of the first."""
    first, second = fused_layers(network)
    shape, design = fused_shape(network, first, second), fused_design(network, first, second)
    images = min(design.first.max_images, design.second.max_images)
    whole, rest = divmod(batch, images)
    cycles = [fused_cycles(shape, images, design).times(whole)] if whole else []
    cycles += [fused_cycles(shape, rest, design)] if rest else []
    summed = cycles[0] if len(cycles) == 1 else cycles[0].plus(cycles[1])
    return summed.times(first.groups)


def _forward(network: Network, layer: Layer) -> Callable[[int], Cycles]:
    design = design_of(network, layer)
    part = WHOLE if layer.add is None else ADDING
    return lambda images: forward_cycles(layer.shape, images, design, part)


def _delta(network: Network, layer: Layer) -> Callable[[int], Cycles]:
    unpooled = behind(network, layer).shape
    design = delta_design(network, layer).engine
    maps = maps_behind(layer.shape, unpooled)
    part = ADDING if begun(network, layer) else WHOLE
    return lambda images: delta_cycles(layer.shape, unpooled, maps, images, design, part)


def _update(network: Network, layer: Layer) -> Callable[[int], Cycles]:
    design = update_design(network, layer)
    return lambda images: update_cycles(layer.shape, images, design)


def _backward(network: Network, layer: Layer) -> Callable[[int], Cycles]:
    design = backward_design(network, layer)
    return lambda images: backward_cycles(layer.shape, images, design)


def forward_cycles(
    shape: Shape, images: int, design: EngineDesign, part: InputPart = WHOLE
) -> Cycles:
    """Return the cycles of forward propagation of one group, or of a part of its input maps."""
    pixels = shape.pooled_rows * shape.pooled_columns
    if part.partial_out:
        pixels = shape.out_rows * shape.out_columns
    words = design.map_words(shape.m * pixels)
    last = _last_position(shape, design)
    run = run_shape(shape, design.k)
    loads = forward_load(shape, design).cycles
    walk = added_flow if part.added else continued_flow if part.partial_in else input_flow
    found = _convolution(run, images, design, words, last, shape.macs(images), loads, walk)
    if run.late == (0, 0) or part.partial_out:
        return found
    busy = found.issue + found.stall_input + found.stall_hazard
    late = late_flow(run, images, design, busy)
    return replace(found, stall_output=late.waits, drain=_behind_sums(design, late.drain))


def _last_position(shape: Shape, design: EngineDesign) -> int:
    """Return the cycles for the outputs of the last position; earlier outputs are done by then."""
    full = groups_of(shape, design.n_cu) - 1  # groups before the last one
    beats = beats_of(full, design) + -(-(shape.m - full * design.n_cu) // design.r)
    return max(design.map_words(shape.m), beats)


def delta_cycles(
    shape: Shape,
    unpooled: Shape,
    maps: int,
    images: int,
    design: EngineDesign,
    part: InputPart = WHOLE,
) -> Cycles:
    """Return the cycles of delta propagation of one group.

    ReLU' and un-pooling of ``unpooled`` follow the engine. ``part`` is the part of the layer's
    output maps that ``shape`` has.
    """
    engine = run_shape(delta_shape(shape), design.k)
    loads = delta_load(shape, design).cycles
    first = 0
    if part.partial_out or unpooled.pool is None:
        words = design.map_words(engine.m * engine.out_rows * engine.out_columns)
        last = _last_position(engine, design)
    else:  # an element a cycle
        words = maps * unpooled.out_rows * unpooled.out_columns
        flattened = engine.out_rows * engine.out_columns == 1
        last = words if flattened else maps * _behind_last_window(unpooled)
        first = maps * _before_first_element(unpooled)
        coming = maps * unpooled.pooled_rows * unpooled.pooled_columns
        if coming > words:  # windows that hang over far can be more than the elements
            words, first = coming, 0
    walk = continued_flow if part.partial_in or part.added else input_flow
    return _convolution(engine, images, design, words, last, shape.macs(images), loads, walk, first)


def _behind_last_window(unpooled: Shape) -> int:
    """Return the elements of a pooled map, in raster order, from the first in the last window
    on.
    """
    assert unpooled.pool is not None
    pool = unpooled.pool
    rows, columns = pool.covers(unpooled.pooled_rows, unpooled.pooled_columns)
    row, column = max(0, rows - pool.window), max(0, columns - pool.window)
    return (unpooled.out_rows - row) * unpooled.out_columns - column


def _before_first_element(unpooled: Shape) -> int:
    """Return the elements of a pooled map before the newest one that the first element waits
    for.
    """
    assert unpooled.pool is not None
    rows, columns = unpooled.pool.at_first(unpooled.out_rows, unpooled.out_columns)
    return (rows - 1) * unpooled.pooled_columns + columns - 1


def _convolution(
    shape: Shape,
    images: int,
    design: EngineDesign,
    words: int,
    last: int,
    macs: int,
    loads: int,
    walk: Walk,
    first: int = 0,
) -> Cycles:
    """Return the cycles of a run with ``words`` output words per image, one beat per cycle.

    ``last`` words are output after the last sum. ``loads`` are the cycles of loading kernels, and
    ``first`` those before the first output word.
    """
    flow = _flow(walk, shape, images, design)
    beats = groups_of(shape, design.n_cu) * -(-design.n_cu // design.r)
    positions = shape.out_rows * shape.out_columns
    leaving = first + images * max(words, positions * beats)
    busy = flow["issue"] + flow["stall_input"] + flow["stall_hazard"]
    return Cycles(
        kernel_load=loads + 1,
        fill=flow["fill"],
        issue=flow["issue"],
        stall_input=flow["stall_input"],
        stall_output=max(0, leaving - busy),
        stall_hazard=flow["stall_hazard"],
        drain=_behind_sums(design, last),
        operations=2 * macs,
        n_cu=design.n_cu,
        taps=design.taps,
    )


def _behind_sums(design: EngineDesign, last: int) -> int:
    """Return the cycles from the last slot to the last of ``last`` output words of its sums."""
    return design.array_latency + design.leak_latency + design.pool_latency + last + 1


def update_cycles(shape: Shape, images: int, design: EngineDesign) -> Cycles:
    """Return the cycles of the kernel update of one group; the update of all elements is
    ``drain``.
    """
    flow = _flow(update_flow, shape, images, design)
    return Cycles(
        kernel_load=0,  # old kernels are read while new ones are written
        fill=flow["fill"],
        issue=flow["issue"],
        stall_input=flow["stall_input"],
        stall_output=0,
        stall_hazard=flow["stall_hazard"],
        drain=flow["drain"],
        operations=2 * shape.macs(images),
        n_cu=design.n_cu,
        taps=design.taps,
    )


def backward_cycles(
    shape: Shape, images: int, design: BackwardDesign, rule: UpdateRule = PLAIN
) -> BackwardCycles:
    """Return the cycles of both backward phases of one group in one pass.

    They are counted by the slots of the kernel update. ``drain`` has all cycles after the last
    slot: the rest of delta propagation, and the update of every element. The update reads the
    kernels when the last delta has been propagated.
    """
    half, update = design.propagation, design.update
    back = delta_shape(shape)
    flow = _batch(backward_flow, replace(shape, relu=False), images, design, _slots(back, half))
    gradients = flow["last"] + gradients_there(update)
    kernels = flow["propagation_last"] + SLOT + half.kernel_read_latency + KERNEL_RETURN
    updated = max(gradients, kernels) + read_out(shape, update, rule)
    return BackwardCycles(
        kernel_load=delta_load(shape, half).cycles + 1,
        fill=flow["fill"],
        issue=flow["issue"],
        stall_input=flow["stall_input"],
        stall_output=0,
        stall_hazard=flow["stall_hazard"],
        drain=max(flow["propagation_word"], updated) - flow["last"],
        operations=4 * shape.macs(images),
        n_cu=half.n_cu + update.n_cu,
        taps=update.taps,
        propagation_issue=images * _slots(back, half),
        propagation_cus=half.n_cu,
    )


def fused_cycles(shape: FusedShape, images: int, design: FusedDesign) -> FusedCycles:
    """Return the cycles of a group of the first fused layer and its groups of the second layer.

    ``drain`` has all cycles after the last slot of the second layer.
    """
    slots = shape.groups * max(_slots(shape.first, design.first), _slots(*_second(shape, design)))
    flow = _batch(fused_flow, shape, images, design, slots)
    ends = [flow["last"], flow["last_word"]]
    if design.second.state:  # the intermediate map is output after the fork's FIFO
        ends.append(flow["first_last_word"] + FORK_LATENCY)
    loads = [forward_load(shape.first, design.first).cycles]
    loads.append(shape.groups * forward_load(*_second(shape, design)).cycles)
    return FusedCycles(
        kernel_load=max(loads) + 1,
        fill=flow["fill"],
        issue=flow["issue"],
        stall_input=flow["stall_input"],
        stall_output=flow["stall_output"],
        stall_hazard=flow["stall_hazard"],
        drain=max(ends) - flow["last"],
        operations=2 * shape.macs(images),
        n_cu=design.groups * design.second.n_cu,
        taps=design.second.taps,
        first_issue=flow["first_issue"],
        multipliers=design.multipliers,
    )


def _second(shape: FusedShape, design: FusedDesign) -> tuple[Shape, EngineDesign]:
    return shape.second, design.second


Walk = Callable[[Any, int, Any], InputFlow | UpdateFlow | BackwardFlow | FusedFlow]


LONG = 1 << 21
"""Slots of an image above which a walk is long: the second image then represents all further
ones.
"""


def _flow(walk: Walk, shape: Shape, images: int, design: EngineDesign) -> dict[str, int]:
    """Walk a batch on a design that has only the walk's phase."""
    plain = _plain(shape)
    run = run_shape(plain, design.k)
    in_rows = walk is update_flow and design.ku_kind == "row" and isinstance(run, FoldedShape)
    if in_rows:  # rows of images are few, and the last row differs
        return _walked(walk, plain, images, design)
    return _batch(walk, plain, images, design, _slots(run, design))


def _plain(shape: Shape) -> Shape:
    """Return the shape with only the fields that walks use."""
    return replace(shape, relu=False, pool=None)


def _slots(run: Shape, design: EngineDesign) -> int:
    """Return the slots of an image."""
    return run.n * groups_of(run, design.n_cu) * run.out_rows * run.out_columns


def _batch(walk: Walk, shape: Any, images: int, design: Any, slots: int) -> dict[str, int]:
    """Walk a few images, and assume that every further pair of images equals the last pair.

    Positions are computed in pairs, so single images can differ by some idle cycles. In a long walk
    these are less than a part in 10^4. ``slots``: of an image.
    """
    low, high = (1, 2) if slots > LONG else (2 + images % 2, 4 + images % 2)
    if images <= high:
        return _walked(walk, shape, images, design)
    before, last = (_walked(walk, shape, few, design) for few in (low, high))
    more = (images - high) // (high - low)
    return {key: count + more * (count - before[key]) for key, count in last.items()}


@lru_cache(maxsize=256)
def _walked(walk: Walk, shape: Any, images: int, design: Any) -> dict[str, int]:
    return asdict(walk(shape, images, design))


def network_cycles(
    network: Network, batch: int, phases: Iterable[str] = NAMED
) -> Iterator[tuple[Layer, str, Cycles]]:
    """Yield layer, phase and cycles of everything that runs on a design."""
    for layer in network.layers:
        for phase in phases:
            cycles = layer_cycles(network, layer, phase, batch)
            if cycles is not None:
                yield layer, phase, cycles
