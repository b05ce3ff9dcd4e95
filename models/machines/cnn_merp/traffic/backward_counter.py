"""Count the traffic of the backward phases by walking their schedules.

As in ``counter``, a word counts when it is needed and not on chip, or when it is output.
"""

from __future__ import annotations

import numpy as np

from merp.models.base.compiled_code import compiled
from merp.models.base.delta_shape import delta_shape
from merp.models.base.folded_shape import FoldedShape, run_shape
from merp.models.base.input_part import WHOLE, InputPart
from merp.models.base.shape import Shape
from merp.models.base.widened_shape import widened
from merp.models.machines.cnn_merp.params.design import EngineDesign
from merp.models.machines.cnn_merp.traffic.counter import walk, windows_over, words_of_sums
from merp.models.traffic.strategies import LEVELS


def delta_words(
    shape: Shape,
    unpooled: Shape,
    maps: int,
    images: int,
    engine: EngineDesign,
    before: bool,
    part: InputPart = WHOLE,
    beside: Shape | None = None,
) -> dict[str, int]:
    """Return the words that cross each port in delta propagation of one group.

    Args:
        shape: the layer's, as in forward propagation.
        unpooled: the layer whose ReLU and pooling are undone: with ``before`` the layer itself,
            otherwise the layer in front of it.
        maps: of the delta that is expanded.
        images: in the run.
        engine: design of the engine.
        before: whether un-pooling precedes the engine.
        part: the part of the layer's output maps that ``shape`` has.
        beside: the layer whose ReLU and pooling are undone on the start of the sums. None if the
            start is not expanded, and has no mask.

    The ReLU/pooling mask counts in bytes. The mask of all images is one string of bits, filled up
    to whole bytes.
    """
    swapped = widened(delta_shape(shape), engine.k)
    counts = walk(swapped, LEVELS[-1], engine.n_cu, engine.d, shape.stride, part)
    undone = before or counts.sums != 0  # without sums there is nothing to un-pool after them
    pooled, full, _ = _expand(_geometry(unpooled, maps if undone else 0))
    sums = words_of_sums(counts, images, engine)
    if beside is not None:
        starting = shape.n if counts.added else 0
        sums["add_in"] = images * _expand(_geometry(beside, starting))[0]
        sums["add_state_in"] = state_bytes(beside, starting, images)
    return {
        "delta_in": images * (pooled if before else counts.maps),
        "delta_out": images * (counts.sums if before else full),
        "kernel": counts.kernels,
        "state_in": state_bytes(unpooled, maps if undone else 0, images),
        **sums,
    }


def state_bytes(shape: Shape, maps: int, images: int) -> int:
    """Return the bytes of the mask that forward propagation of ``maps`` maps writes in one pass.

    The expansion of the delta reads as many bytes.
    """
    return -(-images * _expand(_geometry(shape, maps))[2] // 8)


def update_words(
    shape: Shape, images: int, design: EngineDesign, before: bool = False, part: InputPart = WHOLE
) -> dict[str, int]:
    """Return the words that cross each port in the kernel update of one group, which reads old
    words.

    With ``before``, deltas arrive at pooled resolution, with their mask, which counts in bytes.
    ``part`` is the part of the layer's input maps that ``shape`` has.
    """
    run = run_shape(shape, design.k)
    maps = walk(run, LEVELS[-1], design.n_cu, design.d).maps
    size = np.array([run.n, run.m, run.taps, run.out_rows, run.out_columns], np.int64)
    lacking = run.filling if isinstance(run, FoldedShape) else 0
    deltas, kernels, biases = _update(size, design.n_cu, part.biases, lacking)
    counts = {
        "map_in": images * maps,
        "delta_in": images * deltas,
        "kernel": kernels,
        "bias": biases,
        "kernel_out": kernels,
        "bias_out": biases,
    }
    if before:
        counts["delta_in"] = images * _expand(_geometry(shape, shape.m))[0]
        counts["state_in"] = state_bytes(shape, shape.m, images)
    return counts


def backward_words(
    shape: Shape, images: int, propagation: EngineDesign, update: EngineDesign
) -> dict[str, int]:
    """Return the words that cross each port if both backward phases of a group are one pass.

    Both halves walk the same schedule of deltas, so they share each delta. New kernels are computed
    from the kernels that delta propagation read.
    """
    propagated = delta_words(shape, shape, shape.m, images, propagation, before=True)
    updated = update_words(shape, images, update, before=True)
    asked = {
        port: max(propagated.get(port, 0), updated.get(port, 0))
        for port in propagated.keys() | updated.keys()
    }
    return asked


def _geometry(shape: Shape, maps: int) -> np.ndarray:
    pool = shape.pool
    kind = {None: 0, "max": 1, "average": 2}[pool.kind if pool else None]
    windows = (pool.window, pool.stride, pool.top, pool.left) if pool else (1, 1, 0, 0)
    return np.array(
        [
            *(maps, shape.out_rows, shape.out_columns, shape.pooled_rows, shape.pooled_columns),
            *(kind, *windows, shape.relu),
        ],
        np.int64,
    )


@compiled(lambda geometry: int(geometry[:3].prod()))
def _expand(geometry: np.ndarray) -> tuple[int, int, int]:
    """Walk the elements of one expanded image; return pooled words, words and bits of the mask.

    A pooled element is read when the first element of its window is needed, together with its field
    (mask and position). The mask of an average is read with the element that it may clear.
    """
    maps, rows, columns, pooled_rows, pooled_columns, kind = geometry[:6]
    window, stride, top, left, relu = geometry[6:]
    code = 0
    while 1 << code < window * window:
        code += 1
    here = np.zeros((pooled_rows, pooled_columns, maps), np.bool_)
    pooled = full = bits = 0
    for row in range(rows):
        above = windows_over(row + top, window, stride, pooled_rows)
        for column in range(columns):
            beside = windows_over(column + left, window, stride, pooled_columns)
            for channel in range(maps):
                for r in range(above[0], above[1]):
                    for c in range(beside[0], beside[1]):
                        if not here[r, c, channel]:
                            here[r, c, channel] = True
                            pooled += 1
                            if kind == 1:
                                bits += code + relu
                if kind != 1:
                    bits += relu
                full += 1
    return pooled, full, bits


@compiled(lambda size, n_cu, with_biases, lacking: int(size.prod()))
def _update(size: np.ndarray, n_cu: int, with_biases: bool, lacking: int) -> tuple[int, int, int]:
    """Walk the slots of one image; return delta words, and kernels and biases with a gradient.

    The last ``lacking`` taps of a folded layer's last map have none.
    """
    n, m, taps, out_rows, out_columns = size
    touched = np.zeros((m, n, taps), np.bool_)
    biases = np.zeros(m, np.bool_)
    deltas = 0
    for _ in range(out_rows * out_columns):
        held = np.zeros(m, np.bool_)
        for i in range(n):
            for first in range(0, m, n_cu):
                for j in range(first, min(first + n_cu, m)):
                    if not held[j]:
                        held[j] = True
                        biases[j] = with_biases
                        deltas += 1
                    for tap in range(taps - (lacking if i == n - 1 else 0)):
                        touched[j, i, tap] = True
    return deltas, int(touched.sum()), int(biases.sum())
