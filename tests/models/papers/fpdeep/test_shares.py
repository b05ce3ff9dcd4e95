"""DSPs in proportion to operations: idle shares over clusters, and pieces that are equally busy."""

import pytest

from merp.models.network.network import Network
from merp.models.papers.fpdeep.shares import best_in_units, cut_in_proportion, idle, in_units
from merp.models.papers.fpdeep.stage import stages
from merp.models.papers.networks import alexnet, vgg

DSPS = 2880


@pytest.mark.parametrize(
    ("network", "most", "above_30", "best"),
    [
        (alexnet(1), 0.029, 0.0070, 0.005),
        (alexnet(2), 0.019, 0.0046, 0.008),
        (vgg(16), 0.052, 0.0115, 0.002),
        (vgg(19), 0.052, 0.0146, 0.002),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_idle_shares_from_5_to_85(
    network: Network, most: float, above_30: float, best: float
) -> None:
    some = stages(network, network.layers)
    nearest = {n: idle(some, in_units(some, n * DSPS)) for n in range(5, 86)}
    assert max(nearest.values()) == pytest.approx(most, abs=5e-4)
    assert max(share for n, share in nearest.items() if n > 30) == pytest.approx(above_30, abs=5e-5)
    fastest = [idle(some, best_in_units(some, n * DSPS)) for n in range(5, 86)]
    assert max(fastest) == pytest.approx(best, abs=5e-4)


def test_pieces_are_equally_busy_and_whole_layers_together() -> None:
    network = vgg(16)
    some = stages(network, network.layers)
    pieces = cut_in_proportion(some, 15, DSPS)
    total = sum(stage.work for stage in some)
    for node in range(15):
        own = [piece for piece in pieces if piece.node == node]
        assert sum(piece.share * piece.stage.work for piece in own) * 15 == total
        assert sum(piece.dsps for piece in own) == pytest.approx(DSPS)
    for stage in some:
        of_stage = [piece for piece in pieces if piece.stage == stage]
        assert sum(piece.share for piece in of_stage) == 1
        assert [piece.begin for piece in of_stage[1:]] == [piece.end for piece in of_stage[:-1]]


def test_too_few_dsps_for_a_unit_of_each_layer() -> None:
    network = alexnet(2)
    some = stages(network, network.layers)
    with pytest.raises(ValueError, match="less than a unit"):
        best_in_units(some, 121 + 25 + 3 * 9 - 1)
    assert best_in_units(some, 121 + 25 + 3 * 9) == [121, 25, 9, 9, 9]
