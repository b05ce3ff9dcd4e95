"""Words between FPGAs, those of weights that are kept elsewhere too, and the rates that follow."""

from fractions import Fraction

import pytest

from merp.models.network.network import Network
from merp.models.papers.fpdeep.balance import balanced, with_weights
from merp.models.papers.fpdeep.links import BoardLink, borders, gbits_s
from merp.models.papers.fpdeep.memory import feature_words, weight_words
from merp.models.papers.fpdeep.partition import partition
from merp.models.papers.fpdeep.piece import Piece
from merp.models.papers.fpdeep.shares import cut_in_proportion
from merp.models.papers.fpdeep.stage import stages
from merp.models.papers.networks import alexnet, vgg

CONV1, CONV2, *_ = stages(alexnet(2), alexnet(2).layers)
INPUTS, SUMS, OUTPUTS = 96 * 27 * 27, 256 * 27 * 27, 256 * 13 * 13


def piece(node: int, stage, begin: Fraction, end: Fraction) -> Piece:
    return Piece(node=node, stage=stage, begin=begin, end=end, dsps=1)


def test_input_maps_are_cut_and_all_sums_pass() -> None:
    third = Fraction(1, 3)
    cut = [piece(0, CONV2, Fraction(0), third), piece(1, CONV2, third, Fraction(1))]
    (border,) = borders(cut)
    assert border.forward == pytest.approx(2 / 3 * INPUTS + SUMS)
    assert border.backward == pytest.approx(2 / 3 * INPUTS + OUTPUTS)
    assert borders(cut, open_group=True)[0].forward == pytest.approx(2 / 3 * INPUTS + SUMS / 2)


def test_output_maps_are_cut_where_images_come_in() -> None:
    quarter = Fraction(1, 4)
    cut = [piece(0, CONV1, Fraction(0), quarter), piece(1, CONV1, quarter, Fraction(1))]
    assert borders(cut) == [BoardLink(0, 3 * 224 * 224 + 24 * 27 * 27, 24 * 27 * 27)]


def test_between_layers_maps_and_deltas_pass() -> None:
    whole = (Fraction(0), Fraction(1))
    assert borders([piece(0, CONV1, *whole), piece(1, CONV2, *whole)]) == [
        BoardLink(0, INPUTS, INPUTS)
    ]


def test_a_rate() -> None:
    assert gbits_s(1000, 16, 2000, 200) == pytest.approx(1.6)


@pytest.mark.parametrize(
    ("network", "need"), [(alexnet(1), 10.7), (vgg(16), 14.1), (vgg(19), 10.0)],
    ids=lambda value: getattr(value, "name", None),
)  # fmt: skip
def test_rates_of_what_can_be_built(network: Network, need: float) -> None:
    cut = partition(stages(network, network.layers), 15, 2880)
    most = max(border.most for border in borders(cut.pieces))
    assert gbits_s(most, 16, cut.interval, 200) == pytest.approx(need, abs=0.05)


@pytest.mark.parametrize(
    ("network", "percent"), [(alexnet(1), 24), (vgg(16), 308), (vgg(19), 391)],
    ids=lambda value: getattr(value, "name", None),
)  # fmt: skip
def test_block_ram_of_the_worst_fpga(network: Network, percent: int) -> None:
    words = weight_words(cut_in_proportion(stages(network, network.layers), 15, 2880))
    assert round(100 * max(words.values()) * 2 * 16 / (1470 * 36_864)) == percent


def test_features_of_a_layer_cut_by_outputs_are_kept_by_each() -> None:
    half = Fraction(1, 2)
    cut = [piece(0, CONV1, Fraction(0), half), piece(1, CONV1, half, Fraction(1))]
    assert feature_words(cut) == {0: 3 * 224 * 224, 1: 3 * 224 * 224}
    assert feature_words([piece(0, CONV2, half, Fraction(1))]) == {0: INPUTS / 2}


def test_weights_go_to_the_nearest_with_room() -> None:
    kept = balanced({0: 10, 1: 10, 2: 40}, {0: 0, 1: 20, 2: 0}, capacity=50)
    assert [(each.user, each.keeper, each.words) for each in kept] == [(2, 1, 5), (2, 0, 10)]
    plain = [BoardLink(0, 100, 200), BoardLink(1, 100, 200)]
    assert with_weights(plain, kept) == [BoardLink(0, 110, 210), BoardLink(1, 115, 215)]


def test_nothing_moves_where_all_fits() -> None:
    assert balanced({0: 10, 1: 10}, {0: 0, 1: 0}, capacity=20) == []
