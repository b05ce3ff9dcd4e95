"""Tables of registers and counters: what is made from a table agrees with it."""

from dataclasses import fields, replace
from itertools import pairwise
from typing import Any

import pytest

from merp.hdl.base.registers import RegisterBundle
from merp.hdl.base.signals import signals_of
from merp.hdl.base.status import Status
from merp.models.base.counters import COUNTERS, PARTS, STALLS, meaning_of
from merp.models.base.rates import UpdateRule
from merp.models.base.register_map import FLAGS
from merp.models.base.register_table import RegisterTable
from merp.models.machines.cnn_merp.cycle_causes import Cycles
from merp.models.machines.cnn_merp.params.delta_registers import DILATE
from merp.models.machines.cnn_merp.params.kernel_update_registers import (
    GRADIENT_MAP,
    ROW_MAP,
    update_table,
)
from merp.models.machines.cnn_merp.params.registers import LOAD, MAP, OUTPUT, output_table
from merp.models.machines.cnn_merp.params.unpool_design import UnpoolDesign
from merp.models.machines.cnn_merp.params.unpool_registers import UNPOOL, unpool_table
from merp.testbenches.cnn_merp.random_layers import ELABORATIONS, SHAPED

UPDATES = [update_table(UpdateRule(*built)) for built in ((), (True,), (True, True))]
LARGE = UnpoolDesign(window=3, overlap=2, words=99, max_size=4096, max_maps=512)
FAR = replace(LARGE, hanging=True, far=True)
CASES: list[tuple[RegisterTable[Any, Any], Any]] = [
    (UNPOOL, LARGE),
    (unpool_table(replace(LARGE, hanging=True)), replace(LARGE, hanging=True)),
    (unpool_table(FAR), FAR),
    *(
        (output_table(design), design)
        for design in SHAPED
        if design.hanging or design.relu6 or design.leaky
    ),
    *(
        (table, design)
        for table in (MAP, GRADIENT_MAP, ROW_MAP, LOAD, OUTPUT, DILATE, *UPDATES)
        for design in ELABORATIONS[:4]
    ),
]
EXTENDED: list[tuple[RegisterTable[Any, Any], RegisterTable[Any, Any]]] = [
    (MAP, GRADIENT_MAP),
    (GRADIENT_MAP, ROW_MAP),
    *pairwise(UPDATES),
]


@pytest.mark.parametrize(("table", "design"), CASES)
def test_signals_are_those_of_the_table_and_hold_every_legal_value(
    table: RegisterTable[Any, Any], design: Any
) -> None:
    signals = dict(signals_of(RegisterBundle(table, design), f"{table.bundle}_"))
    settings = table.settings(design)
    assert list(signals) == list(settings)
    for name, signal in signals.items():
        assert 0 <= settings[name].least <= settings[name].most < 1 << len(signal), name


def test_a_table_that_extends_another_changes_no_range() -> None:
    for design in ELABORATIONS:
        for short, long in EXTENDED:
            assert short.settings(design).items() <= long.settings(design).items()


def test_counters_are_called_alike_everywhere() -> None:
    names = [each.name for each in COUNTERS]
    assert list(vars(Status(("map_in",)))) == [*FLAGS, *names, "map_in"]
    assert set(PARTS) < {field.name for field in fields(Cycles)}
    assert {f"stall_{cause}" for cause in STALLS} < set(PARTS)
    assert meaning_of("drain") == "cycles after the last slot"
    assert "port map_in" in meaning_of("map_in")
