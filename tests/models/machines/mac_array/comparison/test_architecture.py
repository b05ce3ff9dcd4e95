from dataclasses import replace

import pytest

from merp.models.base.errors import BadInput
from merp.models.comparison.options import Options
from merp.models.comparison.record import Record
from merp.models.fpga.board import Board
from merp.models.machines.mac_array.comparison.architecture import ARCHITECTURE
from merp.models.machines.mac_array.comparison.paper import DESIGNS, PaperDesign
from merp.tools.common.boards import any_board
from merp.tools.common.shipped import open_network

KIT = any_board("stratix10-devkit")


def answer(name: str, board: Board = KIT, *, batch: int = 40, pof: int | None = None) -> Record:
    network = open_network(name)
    names = tuple(layer.name for layer in network.layers)
    return ARCHITECTURE.answer(
        network, board, Options(scope=names, batch=batch, extra={"pof": pof})
    )


@pytest.mark.parametrize("design", DESIGNS, ids=["1X", "2X", "4X"])
def test_an_epoch_is_that_of_the_fit(design: PaperDesign) -> None:
    record = answer(f"cifar10-{design.times}x", pof=design.maps)
    assert 50_000 / record.images_per_s.value == pytest.approx(design.epoch(40))
    assert record.fits
    seconds = record.cycles().value / 240e6
    assert seconds == pytest.approx(record.interval_s.value)  # one row after the other
    assert record.gop_per_s.value == pytest.approx(design.gops, rel=0.03)


def test_rows_are_one_after_the_other() -> None:
    """LeNet-5's first layer is pooled, and un-pooled without DP."""
    record = answer("lenet5")
    assert record.cycles().value / 240e6 == pytest.approx(record.interval_s.value)


@pytest.mark.parametrize(("times", "own", "maps"), [(1, 23.94, 11.85), (4, 15.32, 2.99)])
def test_what_it_moves(times: int, own: float, maps: float) -> None:
    record = answer(f"cifar10-{times}x", pof=16 * times)
    assert record.mb_per_gflop(record.own).value == pytest.approx(own, abs=0.005)
    assert record.mb_per_gflop(("maps",)).value == pytest.approx(maps, abs=0.005)


@pytest.mark.parametrize("design", DESIGNS, ids=["1X", "2X", "4X"])
@pytest.mark.parametrize("kind", ["", "-fixed"])
def test_the_papers_networks_have_its_arrays(design: PaperDesign, kind: str) -> None:
    """1X in 18.41 s an epoch for the printed 18.01; the fastest array would take 16.97 s."""
    record = answer(f"cifar10-{design.times}x{kind}")
    assert {row.runs_as for row in record.rows} == {f"8 x 8 pixels x {design.maps} maps"}
    assert 50_000 / record.images_per_s.value == pytest.approx(design.epochs[40], rel=0.023)


def test_the_fastest_array_is_taken() -> None:
    """For a network that is not the paper's, and on a part that is not."""
    vc709 = replace(any_board("vc709"), devices=1)
    for name, board in (("lenet5", KIT), ("cifar10-1x", vc709)):
        fastest = answer(name, board)
        assert fastest.fits
        for maps in (4, 8, 16, 32, 64):
            other = answer(name, board, pof=maps)
            assert not other.fits or other.images_per_s.value <= fastest.images_per_s.value


def test_arrays_that_a_small_part_has_no_dsp_for() -> None:
    small = replace(KIT, part=replace(KIT.part, dsps=1000))
    runs = {row.runs_as for row in answer("cifar10-4x", small).rows}
    assert runs == {"8 x 8 pixels x 64 maps"}  # what is missing is built of logic
    halved = replace(small, usable=replace(small.usable, dsp=0.5))
    assert answer("cifar10-4x", halved).rows[0].runs_as == "8 x 8 pixels x 4 maps"


def test_alexnets_kernels_are_too_large() -> None:
    record = answer("alexnet")
    assert {each.resource for each in record.violated} == {"bram"}
    assert any("overlap in conv1, conv2, conv5" in note for note in record.notes)


def test_waits_are_what_slots_leave() -> None:
    for row in answer("cifar10-1x").rows:
        assert 0 <= row.waits["memory"].value < row.cycles.value


def test_what_it_refuses() -> None:
    with pytest.raises(BadInput, match=r"pof 12: allowed are 4, 8, 16, 32, 64"):
        answer("cifar10-1x", pof=12)
