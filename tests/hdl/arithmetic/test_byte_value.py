"""The number that each byte of an image stands for."""

from fractions import Fraction

import pytest

from block_bench import BlockBench, Recorded, Replays
from marks import rows_in_full
from merp.hdl.arithmetic.byte_value import byte_value
from merp.hdl.base.signals import bits
from merp.models.arithmetic.words import to_values
from merp.models.base.byte_image import BYTES, ByteImage
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32, FloatFormat

IMAGES = (ByteImage.of(Fraction(1, 16), Fraction(0)), ByteImage.of(Fraction(2, 255), Fraction(-1)))
EACH = [(image, fmt) for image in IMAGES for fmt in (BINARY32, BFLOAT16, BINARY16)]


def every_byte(image: ByteImage, fmt: FloatFormat) -> Recorded:
    bench = BlockBench(byte_value, a=bits(8), y=bits(fmt.width), values=image.words(fmt))
    return bench.run(lambda cycle, _: {"a": cycle}, BYTES)


@pytest.mark.parametrize(("image", "fmt"), EACH)
def test_every_byte_is_the_number_nearest_to_what_it_stands_for(
    image: ByteImage, fmt: FloatFormat
) -> None:
    found = to_values(every_byte(image, fmt).column("y"), fmt)
    for byte, number in enumerate(found.tolist()):
        exact = image.scale * byte + image.offset
        assert abs(Fraction(number) - exact) <= abs(exact) / 2 ** (fmt.frac_bits + 1)


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize(("image", "fmt"), [EACH[3], *rows_in_full(EACH[1], EACH[2])])
def test_vhdl_replays(image: ByteImage, fmt: FloatFormat, replays: Replays) -> None:
    replays(every_byte(image, fmt), lint=True)
