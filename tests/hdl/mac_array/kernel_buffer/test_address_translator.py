"""Each buffer's address is the definition's, for every turn, in arrays of up to 64 lanes."""

from itertools import product
from random import Random

import pytest

from block_bench import BlockBench
from merp.hdl.base.signals import count
from merp.hdl.mac_array.kernel_buffer.address_translator import address_translator
from merp.models.machines.mac_array.params.design import LANES

TAPS, BASES = 121, 500


@pytest.mark.parametrize("lanes", LANES)
def test_a_row_of_the_column_or_its_first_one(lanes: int) -> None:
    rng = Random(lanes)
    cases = [
        {"turn": turn, "rows": rows, "taps": rng.randint(1, TAPS), "base": rng.randint(0, BASES)}
        for turn, rows in product(range(lanes), (0, 1, rng.randint(2, lanes - 1), lanes))
    ]
    for buffer in (0, lanes - 1):
        bench = BlockBench(
            address_translator, base=count(BASES), turn=count(lanes - 1), rows=count(lanes),
            taps=count(TAPS), address=count(BASES + (lanes - 1) * TAPS), buffer=buffer, lanes=lanes,
        )  # fmt: skip
        trace = bench.run(cases)
        for case, address in zip(cases, trace.column("address"), strict=True):
            row = (buffer - case["turn"]) % lanes
            expected = case["base"] + (row * case["taps"] if row < case["rows"] else 0)
            assert address == expected, (buffer, case)
