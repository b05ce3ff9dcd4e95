"""Places of bitstreams in flash, and the words that boot from there."""

from itertools import pairwise

import pytest

from merp.models.fpga.flash import LOW, MIB, SECTOR, Flash
from merp.models.fpga.parts import KNOWN

BITS = KNOWN["xc7a100t"].configuration_bits


def test_addresses_count_bytes_of_small_spi_flash_and_words_of_bpi_flash() -> None:
    assert Flash(kind="spi", mib=16).boot_word(0x3C0000) == 0x3C0000
    assert Flash(kind="bpi", mib=128).boot_word(0xB00000) == 0x580000


def test_with_32_bits_of_address_the_low_8_may_have_any_value() -> None:
    """Every address that the FPGA may begin with is erased, or the first byte of the bitstream."""
    flash = Flash(kind="spi", mib=32)
    word = flash.boot_word(3 * SECTOR)
    begins = [word << 8 | low for low in range(256)]
    assert (begins[0], begins[-1]) == (3 * SECTOR, 3 * SECTOR + flash.dummy_bytes - 1)
    assert flash.dummy_bytes == LOW


@pytest.mark.parametrize("flash", [Flash(kind="spi", mib=16), Flash(kind="spi", mib=32)])
@pytest.mark.parametrize("bits", [BITS, 8 * SECTOR, 8 * SECTOR + 1, 8 * (SECTOR - LOW) + 1])
def test_bitstreams_are_apart_and_as_many_as_fit(flash: Flash, bits: int) -> None:
    slot, most = flash.slot(bits), flash.most(bits)
    assert slot % SECTOR == 0
    used = [(slot * at, slot * at + flash.dummy_bytes + -(-bits // 8)) for at in range(most)]
    assert all(end <= begin for (_, end), (begin, _) in pairwise(used))
    assert used[-1][1] <= flash.mib * MIB < slot * (most + 1)
    assert slot - SECTOR < flash.dummy_bytes + -(-bits // 8)


def test_the_flash_of_an_arty_has_four_bitstreams() -> None:
    """3,825,788 bytes each (UG470)."""
    flash = Flash(kind="spi", mib=16)
    assert (BITS // 8, flash.slot(BITS), flash.most(BITS)) == (3_825_788, 15 * SECTOR, 4)
