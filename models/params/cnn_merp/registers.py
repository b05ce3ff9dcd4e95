"""Run-time registers: what a layer writes into an elaborated design.

CNN-MERP section VI.B: sizes change by registers, not by a new bitstream.
"""

from __future__ import annotations

import math
from fractions import Fraction

from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.sizing import groups_of
from merp.models.params.formats import FloatFormat
from merp.models.params.shape import Shape


def reciprocal_square(window: int, fmt: FloatFormat) -> int:
    """Bits of RN(1 / window^2), the factor of average pooling.

    Raises:
        ValueError: the factor is below the smallest normal number of the format.
    """
    value = Fraction(1, window * window)
    exponent = math.floor(math.log2(value))
    if Fraction(2) ** exponent > value:
        exponent -= 1
    significand = round(value / Fraction(2) ** (exponent - fmt.frac_bits))  # ties to even
    bits = ((exponent + fmt.bias - 1) << fmt.frac_bits) + significand
    if exponent + fmt.bias < 1:
        raise ValueError(f"1/{window * window} is not a normal number of the format")
    return bits


def pairs_across_rows(shape: Shape, design: Design, images: int) -> bool:
    """Whether two consecutive positions in different rows (or images) fit the kept rows together.

    The first still protects its first row while the second waits for its last row, so both must lie
    within the d*k kept rows, or the second would wait for ever.
    """
    kept = design.d * design.k
    last_top = (shape.out_rows - 1) * shape.stride - shape.pad
    in_image = shape.out_rows == 1 or shape.stride + design.k <= kept
    across_images = images == 1 or shape.rows - max(0, last_top) + design.k - shape.pad <= kept
    return in_image and across_images


def registers(shape: Shape, images: int, design: Design) -> dict[str, int]:
    """Value of every configuration port, by flattened name, for one run.

    The caller has checked that the shape fits the design.
    """
    groups = groups_of(shape, design.n_cu)
    last_cus = shape.m - (groups - 1) * design.n_cu
    k, d = design.k, design.d
    window, stride = (shape.pool.window, shape.pool.stride) if shape.pool else (1, 1)
    average = bool(shape.pool and shape.pool.kind == "average")
    return {
        "map_config_images": images,
        "map_config_rows": shape.rows,
        "map_config_columns": shape.columns,
        "map_config_inputs": shape.n,
        "map_config_out_rows": shape.out_rows,
        "map_config_out_columns": shape.out_columns,
        "map_config_groups": groups,
        "map_config_last_cus": last_cus,
        "map_config_stride": shape.stride,
        "map_config_pad": shape.pad,
        "map_config_rows_mod": shape.rows % k,
        "map_config_rows_ring": shape.rows // k % d,
        "map_config_stride_mod": shape.stride % k,
        "map_config_stride_ring": shape.stride // k % d,
        "map_config_stride_words": shape.stride // k * shape.n,
        "map_config_pair_rows": int(pairs_across_rows(shape, design, images)),
        "load_config_inputs": shape.n,
        "load_config_groups": groups,
        "load_config_last_cus": last_cus,
        "output_config_images": images,
        "output_config_rows": shape.out_rows,
        "output_config_columns": shape.out_columns,
        "output_config_groups": groups,
        "output_config_last_cus": last_cus,
        "output_config_relu": int(shape.relu),
        "output_config_average": int(average),
        "output_config_window": window,
        "output_config_stride": stride,
        "output_config_pooled_rows": shape.pooled_rows,
        "output_config_pooled_columns": shape.pooled_columns,
        "output_config_scale": reciprocal_square(window, design.fmt),
    }
