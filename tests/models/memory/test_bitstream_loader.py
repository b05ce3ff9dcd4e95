"""The words of a warm boot by hand, their bits on the pins, and the cycles of the pins."""

import pytest

from merp.models.memory.bitstream_loader import LoadInputs, begins, pins, swapped, warm_boot
from merp.models.memory.commands import load


def test_words_on_the_pins() -> None:
    """As in UG470, "Parallel Bus Bit Order", and in drivers of others that swap by hand."""
    words = [swapped(word) for word in warm_boot(0x00400000)]
    assert words == [
        0xFFFFFFFF, 0x5599AA66, 0x04000000, 0x0C400080, 0x00020000, 0x0C000180, 0x000000F0,
        0x04000000,
    ]  # fmt: skip


def test_cycles() -> None:
    rows = [LoadInputs(cycle in (3, 4, 40), cycle > 8, cycle == 41, 7) for cycle in range(60)]
    assert begins(rows) == [10]
    found = pins(rows)
    assert [cycle for cycle, each in enumerate(found) if not each.rdwrb] == list(range(10, 30))
    assert [cycle for cycle, each in enumerate(found) if not each.csib] == list(range(12, 28))
    assert [each.i for each in found[12:28:2]] == [swapped(word) for word in warm_boot(7)]


@pytest.mark.parametrize("address", [-1, 1 << 32])
def test_an_address_without_a_place_is_refused(address: int) -> None:
    with pytest.raises(ValueError, match="flash address must be 0 to 4294967295"):
        load(address)
