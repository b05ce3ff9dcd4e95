"""What a design of the MAC array derives from its fields, and what it refuses."""

from dataclasses import replace

import pytest

from merp.models.machines.mac_array.params.design import ArrayDesign

DESIGN = ArrayDesign(
    pof=16, max_kernel=3, kernel_words=9216, map_words=4096, delta_words=128, max_size=32,
    max_maps=64,
)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"pof": 12}, "pof must be one of 4, 8, 16, 32, 64, not 12"),
        ({"pox": 6}, "pox must be one of 4, 8, 16, not 6"),
        ({"poy": True}, "poy must be one of 4, 8, 16, not True"),
        ({"balance": 1}, "balance must be true or false, not 1"),
        ({"max_stride": 3}, "max_stride must be one of 1, 2, 4, not 3"),
        ({"pool_window": 3}, "pool_window must be one of 1, 2, 4, 8, 16, not 3"),
        ({"pool_window": 8, "poy": 4}, r"pool_window must divide pox and poy \(8 and 4\), not 8"),
        ({"kernel_words": 0}, "kernel_words must be a whole number from 1 to 1048576, not 0"),
    ],
)
def test_a_value_out_of_range_is_named(changes: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        replace(DESIGN, **changes)


def test_regions_of_eight_by_eight_are_the_papers() -> None:
    """Section III.F: floor(Pox/K) * floor(Poy/K) input maps at once."""
    assert [DESIGN.regions(k) for k in range(1, 12)] == [64, 16, 4, 4, 1, 1, 1, 1, 1, 1, 1]
    assert [(8 // k) ** 2 for k in range(1, 9)] == [DESIGN.regions(k) for k in range(1, 9)]
    assert [DESIGN.tap_tiles(k) for k in (1, 3, 8, 9, 11)] == [1, 1, 1, 4, 4]
    unbalanced = replace(DESIGN, balance=False)
    assert [unbalanced.regions(k) for k in range(1, 12)] == [1] * 11
    assert unbalanced.bank_side(3) == (8, 8)
    assert DESIGN.bank_side(3) == (4, 4)


def test_regions_of_an_array_that_is_not_square() -> None:
    wide = replace(DESIGN, poy=4, pox=16)
    assert wide.region_grid(3) == (1, 4)
    assert wide.region_side(7) == 4
    assert wide.tap_tiles(7) == 4


def test_kept_rows_are_at_most_the_maps_own() -> None:
    assert DESIGN.block_rows(32, 3, 1, 1, pooled=False) == 4
    assert DESIGN.block_rows(64, 3, 1, 1, pooled=True) == 5
    assert DESIGN.block_rows(64, 3, 4, 1, pooled=False) == 2
