import pytest

from merp.models.papers.fcnn.others import full_cycles, pool_cycles


def test_pooling_takes_its_larger_maps() -> None:
    assert pool_cycles(48, 24) == 2


@pytest.mark.parametrize(("outputs", "whole"), [(12, 12), (10, 12), (9, 12), (8, 8)])
def test_blocks_are_filled_up(outputs: int, whole: int) -> None:
    assert full_cycles(8, outputs, 384, 24, words_per_cycle=1000) == 2 * 8 * whole * 384 / 384


def test_three_streams_wait_for_dram() -> None:
    fast, slow = (full_cycles(8, 8, 384, 24, words) for words in (72, 64))
    assert slow == pytest.approx(1.125 * fast)
