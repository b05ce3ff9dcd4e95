"""Check that the format in memory can hold the numbers of a user."""

from __future__ import annotations

import numpy as np

from merp.models.arithmetic.stored import to_memory
from merp.models.arithmetic.words import to_values
from merp.models.base.bits import Bits
from merp.models.base.byte_image import ByteImage
from merp.models.base.errors import BadInput
from merp.models.base.formats import FloatFormat
from merp.models.base.storage import StoredFormat, stored_name


def check_storable(where: str, words: Bits, fmt: FloatFormat, stored: StoredFormat) -> None:
    """Refuse numbers that storage would change beyond rounding.

    Args:
        where: start of the error message: file and key.
        words: words of ``fmt``, any shape.
        fmt: format of the words.
        stored: format in memory.

    Raises:
        BadInput: a finite number is beyond the largest of ``stored``, or outside the range of an
            image in bytes. It names the first one.
    """
    if stored == fmt:
        return
    numbers = to_values(words, fmt)
    if isinstance(stored, ByteImage):
        low, high = (float(stored.exact[byte]) for byte in (0, -1))
        least, most = to_values(np.array([stored.words(fmt)[0], stored.words(fmt)[-1]]), fmt)
        kept = (numbers >= least) & (numbers <= most)
        allowed = f"{low:g} to {high:g}"
    else:
        kept = np.isfinite(to_values(to_memory(words, fmt, stored), stored)) | ~np.isfinite(numbers)
        allowed = "finite numbers"
    if not kept.all():
        place = tuple(int(index) for index in np.argwhere(~kept)[0])
        raise BadInput(
            f"{where}[{', '.join(map(str, place))}] = {numbers[place]}: allowed are {allowed}: it "
            f"is stored as {stored_name(stored)}"
        )
