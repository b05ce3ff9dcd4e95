from dataclasses import replace

import pytest

from merp.models.base.errors import BadInput
from merp.models.comparison.fcnn import ARCHITECTURE
from merp.models.comparison.options import Options
from merp.models.comparison.record import Record
from merp.models.fpga.board import Board
from merp.tools.common.boards import any_board
from merp.tools.common.shipped import open_network

MAIA = any_board("maia")


def answer(
    name: str,
    board: Board = MAIA,
    *,
    kind: str = "conv",
    batch: int = 96,
    **extra: int | bool | None,
) -> Record:
    network = open_network(name)
    names = tuple(each.name for each in network.layers if kind in (each.kind, "all"))
    asked = {"accumulate": 1, "first_dp": False} | extra
    return ARCHITECTURE.answer(network, board, Options(scope=names, batch=batch, extra=asked))


def test_kernels_of_the_papers_layers_are_its_own() -> None:
    rows = {row.layer: row.runs_as for row in answer("alexnet").rows if row.phase == "fp"}
    assert rows["conv2"] == "Nk 12 = 12 x 1"
    assert rows["conv4"] == "Nk 36 = 12 x 3"


def test_lenet_on_two_cards() -> None:
    """An iteration of 150 minibatches: 21.4 s printed, 20.22 s and loads without ``REACHED``."""
    two = replace(MAIA, devices=2)
    record = answer("lenet5", two, kind="all", batch=384, accumulate=150, first_dp=True)
    assert 150 * record.interval_s.value == pytest.approx(20.65, abs=0.01)
    assert 150 * record.reconfiguration_s.value < 0.1
    assert "effective batch is 57600" in " ".join(record.notes)
    without = answer("lenet5", two, kind="all", batch=384, accumulate=150)
    assert without.interval_s.value < record.interval_s.value
    assert without.macs == record.macs


def test_power_is_that_of_both_cards_of_which_one_works() -> None:
    """27.3 W times 21.4 s are 584 J an iteration; ours takes 20.65 s."""
    for cards in (1, 2, 8):
        board = replace(MAIA, devices=cards)
        record = answer("lenet5", board, kind="all", batch=384, accumulate=150)
        assert record.energy_j is not None
        assert record.energy_j.value == pytest.approx(27.3 * record.interval_s.value)
    two = replace(MAIA, devices=2)
    record = answer("lenet5", two, kind="all", batch=384, accumulate=150, first_dp=True)
    assert record.energy_j is not None
    assert 150 * record.energy_j.value == pytest.approx(563.8, abs=0.1)


def test_loads_with_every_batch() -> None:
    once, always = (answer("lenet5", kind="all", batch=384, accumulate=n) for n in (150, 1))
    assert always.reconfiguration_s.value == pytest.approx(12 * 0.1)
    assert once.reconfiguration_s.value == pytest.approx(always.reconfiguration_s.value / 150)


def test_partial_sums_are_what_it_moves() -> None:
    record = answer("alexnet")
    rows = {(row.layer, row.phase): row for row in record.rows}
    sums = 384 * 13 * 13 * 96
    assert rows["conv3", "fp"].bytes["partial"].value == 4 * 2 * 255 * sums
    assert rows["conv3", "fp"].bytes["maps"].value == 4 * (256 * 13 * 13 * 96 + sums)
    assert "partial" not in rows["conv3", "ku"].bytes
    assert rows["conv3", "ku"].bytes["host"].value == 4 * (384 * 256 * 9 + 384)
    assert record.mb_per_gflop(("partial",)).value > 190


def test_cards_hide_loads_and_need_the_host() -> None:
    one, two, many = (answer("lenet5", replace(MAIA, devices=count)) for count in (1, 2, 64))
    assert many.reconfiguration_s.value == 0 < two.reconfiguration_s.value
    assert two.reconfiguration_s.value < one.reconfiguration_s.value
    assert sum(bool(device.used) for device in many.devices) == 8
    with pytest.raises(BadInput, match="board maia: host is missing"):
        answer("lenet5", replace(MAIA, devices=2, host_gbytes_s=None))


def test_a_kernel_that_does_not_fit_is_named() -> None:
    small = replace(MAIA, part=replace(MAIA.part, block_rams=470))
    with pytest.raises(BadInput, match=r"layer conv1: fcnn: one kernel of 5 x 5 needs \d+ BRAM: "):
        answer("lenet5", small)


def test_what_dram_bounds_has_room_for_a_buffer_twice_as_large() -> None:
    """Beside one buffer VGG's second layer would have 37 kernels, and 3 maps at once."""
    runs = {row.layer: row for row in answer("vgg16").rows if row.phase == "fp"}
    assert (runs["conv1_2"].runs_as, runs["conv1_2"].binds) == ("Nk 24 = 12 x 2", "DRAM")


def test_a_batch_is_shared_among_lanes() -> None:
    runs = {row.runs_as.split(" = ")[1].split()[0] for row in answer("lenet5", batch=10).rows}
    assert runs == {"2"}
