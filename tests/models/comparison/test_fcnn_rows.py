"""The energy of F-CNN and our reading of table V, beside the record of ``merp map``."""

from dataclasses import replace

import pytest

from checkout import ROOT
from merp.models.comparison.fcnn_paper import lenet_seconds
from merp.models.comparison.fcnn_rows import GROUP, MAIA, iteration, lenet5, rows
from merp.tools.common.boards import any_board
from merp.tools.common.shipped import open_network

ROWS = rows()


def test_our_reading_of_table_5() -> None:
    found = [each for pair in lenet_seconds().values() for each in pair]
    assert found == pytest.approx(
        [0.524, 1.358, 0.516, 0.599, 4.691, 9.391, 0.143, 0.166, 0.923, 1.837, 0.028, 0.042],
        abs=5e-4,
    )
    assert sum(found) == pytest.approx(20.22, abs=0.005)


def test_board_and_network_are_the_shipped_ones() -> None:
    assert replace(any_board("maia"), devices=2) == MAIA
    shipped = open_network("lenet5").layers
    assert [(layer.kind, layer.shape) for layer in lenet5().layers] == [
        (layer.kind, layer.shape) for layer in shipped
    ]


def test_energy_is_that_of_the_record() -> None:
    record = iteration()
    assert (len(record.devices), record.at_work) == (2, 1)
    assert record.energy_j is not None
    assert ROWS["LeNet energy, record"] == GROUP * record.energy_j.value
    assert ROWS["LeNet energy, record"] == pytest.approx(563.8, abs=0.1)
    ratio = 235 * 18.7 / ROWS["LeNet energy, record"]
    assert ROWS["LeNet energy ratio, record"] == pytest.approx(ratio)
    assert ratio == pytest.approx(7.79, abs=0.005)
    page = (ROOT / "docs" / "papers" / "fcnn.md").read_text()
    assert (
        f"\n  {ROWS['LeNet energy, record']:.0f} J in the record, 584 J by the printed time" in page
    )
