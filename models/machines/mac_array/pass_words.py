"""Calculate the words on the array's ports in one pass of one image, by formula.

x, y and yp are the words of the input maps, the sums and the pooled outputs; rows are padded to
whole atoms. w and b are the words of kernels and biases, padded to whole tiles of lanes.
"""

from __future__ import annotations

from merp.models.machines.mac_array.params.array_pass import ArrayPass
from merp.models.machines.mac_array.params.design import Array


def pass_words(of: ArrayPass, array: Array) -> dict[str, int]:
    """Return the words on each port of FP, DP, KU or un-pooling; ports without words are absent."""

    def words(maps: int, rows: int, columns: int) -> int:
        return maps * rows * array.column_blocks(columns) * array.pox

    x = words(of.inputs, of.rows, of.columns)
    y = words(of.outputs, of.out_rows, of.out_columns)
    yp = words(of.outputs, of.pooled_rows, of.pooled_columns)
    b = array.map_tiles(of.outputs) * array.pof
    w = b * of.inputs * of.taps
    stored = yp if of.fused else y
    if of.phase == "fp":
        deltas = int(of.loss is not None)  # one atom of deltas for each atom of outputs
        found = {
            "map_in": x, "kernel_in": w + b, "map_out": stored * (1 + deltas), "target_in": deltas
        }  # fmt: skip
    elif of.phase == "dp":
        found = {"map_in": stored, "kernel_in": w, "map_out": x}
    elif of.phase == "upsample":
        # Rows of sums that fill no window are not sent, nor atoms without a column of a window.
        columns = min(of.out_columns, array.column_blocks(of.pooled_columns) * of.pool * array.pox)
        found = {"map_in": yp, "map_out": words(of.outputs, of.pooled_rows * of.pool, columns)}
    else:
        step, velocity = (w + b) * of.last, (w + b) * (of.last and of.has_momentum)
        found = {
            "map_in": x, "delta_in": stored, "kernel_in": step, "kernel_out": step,
            "gradient_in": (w + b) * (not of.first), "gradient_out": (w + b) * (not of.last),
            "velocity_in": velocity, "velocity_out": velocity,
        }  # fmt: skip
    return {port: count for port, count in found.items() if count}


def pass_products(of: ArrayPass) -> int:
    """Return the useful products of pixels, lanes and taps; products with padding are included.

    In DP, a tap has a useful product only at positions where the stride has a delta. In KU,
    deltas outside all pooling windows have no useful products.
    """
    if of.phase == "upsample":
        return 0
    if of.phase != "dp":
        return of.inputs * of.outputs * of.taps * of.delta_rows * of.delta_columns
    rows, columns = (_taps_of(size, of) for size in (of.rows, of.columns))
    return of.inputs * of.outputs * rows * columns


def _taps_of(size: int, of: ArrayPass) -> int:
    """Count the taps that have a delta, over all rows or all columns of an outgoing map."""
    places = range(size)
    return sum((place + of.pad - tap) % of.stride == 0 for place in places
               for tap in range(of.kernel))  # fmt: skip
