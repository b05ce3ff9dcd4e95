"""What a pass of the MAC array derives from a layer's sizes, and what it refuses."""

from dataclasses import replace

import pytest

from merp.models.base.shape import Shape
from merp.models.machines.mac_array.params.array_pass import NO_LIMIT, ArrayPass, limit_of
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.machines.mac_array.params.fitting import check_fit

DESIGN = ArrayDesign(
    pof=16, max_kernel=4, kernel_words=9216, map_words=4096, delta_words=128, max_size=32,
    max_maps=64, pool_window=2,
)  # fmt: skip
CONV4 = ArrayPass(
    phase="fp", inputs=32, outputs=32, rows=16, columns=16, kernel=3, pad=1, pool=2, shift=13
)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"phase": "bp"}, "phase must be one of fp, dp, ku, pool, upsample, not bp"),
        ({"inputs": 0}, "inputs must be at least 1, not 0"),
        ({"pad": 3}, "pad must be 0 to 2, not 3"),
        ({"rows": 1, "pad": 0}, "kernel must not exceed the padded map, not 3"),
        ({"stride": 4}, r"stride must not exceed the kernel \(3\), not 4"),
        ({"pool": 32}, "pool must not exceed the sums' size, not 32"),
        ({"limit": 0}, "limit must be 1 to 32768, not 0"),
        ({"shift": 31}, "shift must be -15 to 30, not 31"),
        ({"update_shift": 48}, "update_shift must be 0 to 47, not 48"),
        ({"loss": "cross-entropy"}, "loss must be one of squared, hinge, not cross-entropy"),
        ({"inputs": 1 << 14}, "sums of 147456 products: at most 131071 are allowed"),
    ],
)
def test_a_value_out_of_range_is_named(changes: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        replace(CONV4, **changes)


@pytest.mark.parametrize(
    ("fraction", "limit"), [(0, 6), (8, 6 << 8), (12, 24576), (13, NO_LIMIT), (15, NO_LIMIT)]
)
def test_relu6_stops_at_six_in_units_of_the_output(fraction: int, limit: int) -> None:
    """From 13 bits on, every word is below 6."""
    shape = Shape(n=1, m=1, k=1, rows=1, columns=1)
    assert limit_of(replace(shape, relu6=True), fraction) == limit
    assert limit_of(shape, fraction) == NO_LIMIT


def test_a_design_for_relu_alone_refuses_a_limit() -> None:
    six = replace(CONV4, limit=6 << 8)
    check_fit(CONV4, DESIGN)
    check_fit(six, replace(DESIGN, relu6=True))
    with pytest.raises(ValueError, match=r"^ReLU6: the design is built for ReLU alone$"):
        check_fit(six, DESIGN)


def test_words_of_memories() -> None:
    forward, delta, update = (replace(CONV4, phase=phase) for phase in ("fp", "dp", "ku"))
    assert (CONV4.out_rows, CONV4.pooled_columns, CONV4.taps) == (16, 8, 9)
    assert forward.kernel_words(DESIGN) == 2 * 32 * 9
    assert forward.map_words(DESIGN) == 2 * 2 * 32
    assert delta.map_words(DESIGN) == 2 * 2 * 32
    assert update.map_words(DESIGN) == 8 * 4 * 4
    assert update.map_words(replace(DESIGN, balance=False)) == 32 * 2 * 2
    assert update.delta_words(DESIGN) == 16 * 2
    assert forward.output_atoms(DESIGN) == 32 * 8 * 1


def test_strided_maps_are_kept_by_phase_of_the_stride() -> None:
    strided = ArrayPass(
        phase="fp", inputs=3, outputs=8, rows=33, columns=35, kernel=4, stride=2, pad=1
    )
    assert (strided.out_rows, strided.out_columns) == (16, 17)
    assert strided.block_rows(DESIGN) == 3
    assert strided.map_words(DESIGN) == 3 * 3 * 4 * 3
    assert replace(strided, phase="dp").map_words(DESIGN) == 2 * 3 * 8
