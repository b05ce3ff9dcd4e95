"""Training in fixed point by loops over Python's integers, from the rules alone."""

from fractions import Fraction
from itertools import product
from math import floor

Maps = list[list[list[int]]]
"""By map, row, column."""


def nearest(value: int, shift: int) -> int:
    """value * 2^-shift, ties to even."""
    return round(Fraction(value) / Fraction(2) ** shift)


def clip(value: int) -> int:
    """To a word."""
    return max(-32768, min(32767, value))


def toward_zero(value: int) -> int:
    """value / 65536, cut off."""
    return int(Fraction(value, 65536))


def at(maps: Maps, f: int, row: int, column: int) -> int:
    """An element of a map, 0 outside."""
    inside = 0 <= row < len(maps[f]) and 0 <= column < len(maps[f][0])
    return maps[f][row][column] if inside else 0


def sums(maps: Maps, kernels, biases, k, stride, pad, size) -> Maps:
    """Sums of FP, by map."""
    return [
        [
            [
                sum(
                    at(maps, i, stride * y + ky - pad, stride * x + kx - pad)
                    * kernels[f][i][ky][kx]
                    for i, ky, kx in product(range(len(maps)), range(k), range(k))
                )
                + biases[f]
                for x in range(size[1])
            ]
            for y in range(size[0])
        ]
        for f in range(len(kernels))
    ]


def pooled(maps: Maps, window: int) -> tuple[Maps, Maps]:
    """Maxima and their places."""
    found: tuple[Maps, Maps] = ([], [])
    for each in maps:
        rows, columns = len(each) // window, len(each[0]) // window
        best = [
            [
                max(
                    ((each[y * window + dy][x * window + dx], -(dy * window + dx))
                     for dy, dx in product(range(window), range(window)))
                )
                for x in range(columns)
            ]
            for y in range(rows)
        ]  # fmt: skip
        found[0].append([[value for value, _ in row] for row in best])
        found[1].append([[-place for _, place in row] for row in best])
    return found


def delta_sums(deltas: Maps, kernels, k, stride, pad, size) -> Maps:
    """By the definition: every product of FP, back."""
    n = len(kernels[0])
    found = [[[0] * size[1] for _ in range(size[0])] for _ in range(n)]
    for f, each in enumerate(deltas):
        for y, x, i, ky, kx in product(
            range(len(each)), range(len(each[0])), range(n), range(k), range(k)
        ):
            row, column = stride * y + ky - pad, stride * x + kx - pad
            if 0 <= row < size[0] and 0 <= column < size[1]:
                found[i][row][column] += each[y][x] * kernels[f][i][ky][kx]
    return found


def gradient_sum(maps: Maps, deltas: Maps, f, i, ky, kx, stride, pad) -> int:
    """Of one tap, for one image."""
    return sum(
        deltas[f][y][x] * at(maps, i, stride * y + ky - pad, stride * x + kx - pad)
        for y, x in product(range(len(deltas[f])), range(len(deltas[f][0])))
    )


def update(w, v, g, *, momentum, rate, velocity_shift, update_shift, bits=None) -> tuple[int, int]:
    """A new kernel and its velocity."""
    moved = clip(toward_zero(momentum * v) + nearest(g, velocity_shift))
    step = -rate * moved
    if bits is None:
        change = nearest(step, update_shift)
    else:
        change = floor((floor(step * Fraction(2) ** (16 - update_shift)) + bits) / Fraction(65536))
    return clip(w + change), moved


def serial_bits(state: int) -> tuple[int, int]:
    """Sixteen steps of x^31 + x^3 + 1, a bit at a time: the new state, and the bits that came."""
    bits = 0
    for _ in range(16):
        new = (state >> 30 ^ state >> 27) & 1
        state = (state << 1 | new) & 0x7FFFFFFF
        bits = bits << 1 | new
    return state, bits
