"""Lists of commands in a memory of bytes."""

from collections.abc import Sequence


def put_words(data: bytearray, address: int, words: Sequence[int]) -> None:
    """Write words of 32 bits from a byte address on."""
    for at, word in enumerate(words):
        data[address + 4 * at : address + 4 * at + 4] = word.to_bytes(4, "little")


def words_at(data: bytes | bytearray, address: int, count: int) -> list[int]:
    """Read ``count`` words of 32 bits from a byte address on."""
    return [
        int.from_bytes(data[at : at + 4], "little") for at in range(address, address + 4 * count, 4)
    ]
