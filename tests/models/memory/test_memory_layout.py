"""Arrays in memory: their places, the words of their parts, and what is refused."""

import re
from math import prod
from random import Random

import pytest

from merp.models.memory.box import box
from merp.models.memory.layout import ALIGN, Array, Layout
from merp.models.memory.params.memory_port import BYTE, DATA_BITS
from merp.models.memory.walk import Dimension, Walk

WORDS = tuple(1 << place for place in range((max(DATA_BITS) // BYTE).bit_length()))
"""Bytes of all words of movers."""


def exactly(message: str) -> str:
    return f"^{re.escape(message)}$"


def one(array: Array, address: int = 0) -> Layout:
    """An array alone in memory."""
    return Layout({array.name: array}, {array.name: address}, 0, 1 << 16)


@pytest.mark.parametrize(
    ("bits", "size", "padding"),
    [
        (1, 1, 5),
        (8, 1, 0),
        (12, 2, 3),
        (16, 2, 0),
        (24, 4, 6),
        (32, 4, 0),
        (40, 8, 18),
        (64, 8, 0),
    ],
)
def test_elements_take_the_next_power_of_two_in_bytes(bits: int, size: int, padding: int) -> None:
    """Of six elements; a part of a byte of padding does not count."""
    array = Array.of("kernels", [3, 2], bits)
    assert array == Array("kernels", (3, 2), bits, size)
    assert (array.elements, array.size, array.padding) == (6, 6 * size, padding)


@pytest.mark.parametrize("seed", range(20))
def test_arrays_are_placed_aligned_and_apart(seed: int) -> None:
    rng = Random(seed)
    arrays = [
        Array.of(f"array{number}", [rng.randint(1, 9), rng.randint(1, 9)], rng.choice([1, 16, 24]))
        for number in range(rng.randint(1, 8))
    ]
    first = rng.choice([0, 4096, 100])
    layout = Layout.of(arrays, first, 1 << 16)
    assert list(layout.arrays.values()) == arrays
    end = first
    for array in arrays:
        address = layout.addresses[array.name]
        assert address % ALIGN == 0
        assert end <= address < end + ALIGN, "nothing is wasted"
        end = address + array.size
    assert layout.used == end - first
    places = dict(reversed(layout.addresses.items()))  # the order of names does not matter
    assert Layout(layout.arrays, places, first, 1 << 16).used == layout.used


def test_arrays_fill_memory_to_its_end() -> None:
    arrays = Array.of("one", [65], 8), Array.of("other", [64], 8)
    layout = Layout.of(arrays, 64, 256)
    assert layout.addresses == {"one": 64, "other": 192}
    assert Layout.of((), 100, 128).used == 0
    message = "192 bytes of arrays: allowed are the memory's 191"
    with pytest.raises(ValueError, match=exactly(message)):
        Layout.of(arrays, 64, 255)


@pytest.mark.parametrize(
    ("places", "message"),
    [
        ({"one": 96}, "one: address 0x60: allowed are multiples of 64"),
        ({"one": 0}, "one: address 0x0: allowed with 100 bytes are 0x40 to 0x19c"),
        ({"one": 448}, "one: address 0x1c0: allowed with 100 bytes are 0x40 to 0x19c"),
        ({"one": 64, "two": 128}, "two: address 0x80: one ends at 0xa4"),
        ({"one": 192, "two": 128}, "one: address 0xc0: two ends at 0xc8"),
        ({"one": 128, "two": 128}, "two: address 0x80: one ends at 0xe4"),
    ],
)
def test_wrong_places_are_refused(places: dict[str, int], message: str) -> None:
    arrays = {"one": Array.of("one", [100], 8), "two": Array.of("two", [36], 16)}
    with pytest.raises(ValueError, match=exactly(message)):
        Layout(arrays, places, 64, 512)


def test_neighbours_may_touch() -> None:
    arrays = {name: Array.of(name, [64], 8) for name in ("one", "two")}
    assert Layout(arrays, {"one": 64, "two": 0}, 0, 128).used == 128


@pytest.mark.parametrize("seed", range(60))
def test_words_hold_the_elements_of_a_part(seed: int) -> None:
    """Elements of a part and of the words of its walk are the same, in the same order."""
    rng = Random(seed)
    lanes, bits = rng.choice([1, 2, 4, 8]), rng.choice([8, 16, 32])
    shape = *(rng.randint(1, 4) for _ in range(3)), lanes * rng.randint(1, 3)
    parts = [range(rng.randrange(size), size) for size in shape[:-1]]
    last = lanes * rng.randrange(shape[-1] // lanes)
    part = box(shape, (*parts, range(last, shape[-1])))
    array, address = Array.of("maps", shape, bits), ALIGN * rng.randrange(9)
    words = one(array, address).walk("maps", part, lanes * array.element_bytes)
    first = address // array.element_bytes
    found = [lanes * word + lane for word in words.addresses() for lane in range(lanes)]
    assert found == [first + place for place in part.addresses()]


def test_words_by_hand() -> None:
    layout = one(Array.of("maps", [3, 8], 16), 128)
    part = Walk(4, 4, (Dimension(3, 8),))
    assert layout.walk("maps", part, 2) == Walk(68, 4, (Dimension(3, 8),))
    assert layout.walk("maps", part, 8) == Walk(17, 1, (Dimension(3, 2),))
    backward = Walk(20, 4, (Dimension(3, -8),))
    assert layout.walk("maps", backward, 4) == Walk(42, 2, (Dimension(3, -4),))


@pytest.mark.parametrize(
    "part",
    [
        Walk(0, 3, (Dimension(2, 8),)),  # runs end within a word
        Walk(2, 4, (Dimension(2, 8),)),  # they begin within one
        Walk(0, 4, (Dimension(2, 6),)),  # the second one does
        Walk(21, 3),  # a single run to the end of the array does
        Walk(0, 3),  # it ends within a word that has another element of the array
    ],
)
def test_a_part_without_whole_words_is_refused(part: Walk) -> None:
    with pytest.raises(ValueError, match=r"^runs must begin and end at multiples of 4 elements: "):
        one(Array.of("maps", [3, 8], 16)).walk("maps", part, 8)


@pytest.mark.parametrize("elements", [1, 3, 4, 5, 7, 8, 9])
def test_the_last_word_of_a_single_run_may_have_free_places(elements: int) -> None:
    layout = one(Array.of("biases", [elements], 32), 64)
    assert layout.walk("biases", Walk(0, elements), 16) == Walk(4, -(-elements // 4))


def test_the_end_of_an_array_may_have_free_places() -> None:
    layout = one(Array.of("biases", [2, 7], 8), 64)
    assert layout.walk("biases", Walk(8, 6), 8) == Walk(9, 1)
    assert layout.walk("biases", Walk(12, 2), 4) == Walk(19, 1)


@pytest.mark.parametrize("seed", range(40))
def test_free_places_belong_to_no_other_array(seed: int) -> None:
    """Each array begins at a multiple of the widest word, so a word never has parts of two."""
    rng = Random(seed)
    arrays = [
        Array.of(f"array{number}", [rng.randint(1, 99)], rng.choice([8, 16, 32, 64]))
        for number in range(6)
    ]
    end = sum(-(-each.size // ALIGN) * ALIGN for each in arrays)
    layout = Layout.of(arrays, 0, end)
    assert max(WORDS) <= ALIGN
    taken: dict[int, str] = {}
    for array in arrays:
        size = rng.choice([size for size in WORDS if size >= array.element_bytes])
        words = layout.walk(array.name, Walk(0, array.elements), size)
        assert words.total == -(-array.size // size)
        for word in words.addresses():
            for place in range(word * size, (word + 1) * size):
                assert taken.setdefault(place, array.name) == array.name
                assert 0 <= place < end


def test_free_places_are_within_memory() -> None:
    """Memory that ends within a widest word has no array there."""
    message = "biases: address 0x40: allowed with 10 bytes are 0x0 to 0x36"
    with pytest.raises(ValueError, match=exactly(message)):
        Layout({"biases": Array.of("biases", [10], 8)}, {"biases": 64}, 0, 64 + 10)


@pytest.mark.parametrize(
    "part",
    [
        Walk(-1, 2),
        Walk(0, 25),
        Walk(24, 1),
        Walk(16, 4, (Dimension(2, 8),)),
        Walk(4, 4, (Dimension(2, -8),)),
    ],
)
def test_a_part_that_leaves_the_array_is_refused(part: Walk) -> None:
    with pytest.raises(
        ValueError, match=exactly(f"maps: allowed are elements 0 to 23, not {part}")
    ):
        one(Array.of("maps", [3, 8], 16)).walk("maps", part, 2)


@pytest.mark.parametrize("size", [1, 2, 6, 0, 12, 128])
def test_words_of_other_sizes_are_refused(size: int) -> None:
    """Arrays begin at multiples of 64 bytes, and words of 12 or 128 bytes do not begin there."""
    message = f"maps: words of {size} bytes: allowed are multiples of 4 that divide {ALIGN}"
    with pytest.raises(ValueError, match=exactly(message)):
        one(Array.of("maps", [96], 32), 64).walk("maps", Walk(0, 96), size)


def test_a_walk_is_moved_and_grouped() -> None:
    walk = Walk(12, 6, (Dimension(2, -12), Dimension(5, 24)))
    assert walk.moved(100) == Walk(112, 6, walk.dimensions)
    assert walk.moved(-12).moved(12) == walk
    assert walk.grouped(1) == walk
    assert walk.grouped(6) == Walk(2, 1, (Dimension(2, -2), Dimension(5, 4)))
    assert walk.grouped(2).grouped(3) == walk.grouped(6)
    for other in (walk.moved(3), Walk(12, 3), Walk(12, 6, (Dimension(2, 9),))):
        message = f"runs must begin and end at multiples of 6 elements: {other}"
        with pytest.raises(ValueError, match=exactly(message)):
            other.grouped(6)


def test_the_whole_array_is_one_run_of_words() -> None:
    for size in WORDS:
        array = Array.of("maps", [2, 32], 8)
        words = one(array, 64).walk("maps", box(array.shape, (range(2), range(32))), size)
        assert words == Walk(64 // size, prod(array.shape) // size)
