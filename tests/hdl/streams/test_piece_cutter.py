"""Beats to pieces: what each has, zeros behind a length, misplaced lasts, rate, resets."""

from random import Random

import pytest

from block_bench import BlockBench, Recorded, Replays, Sample
from merp.hdl.base.signals import Stream, bits
from merp.hdl.streams.piece_cutter import piece_cutter

WIDTH = 4


def run(
    lanes: int,
    most: int,
    length: int,
    lengths: int,
    filling: int | None,
    *,
    offer: float = 1.0,
    ready: float = 1.0,
    last_at: int | None = None,
    cut: int | None = None,
) -> tuple[Recorded, list[int]]:
    """Two runs of the same words; the first one is cut off by a reset in cycle ``cut``.

    ``last_at``: beat with which last comes, in place of the last one.
    """
    rng = Random(lanes + length)
    words = [rng.randrange(1, 16) for _ in range(length * lengths)]
    beats = [
        sum(word << WIDTH * i for i, word in enumerate(words[at : at + lanes]))
        for at in range(0, len(words), lanes)
    ]
    ends = len(beats) - 1 if last_at is None else last_at
    bench = BlockBench(
        piece_cutter, "clk rst start", length=bits(5), lengths=bits(4),
        sink=Stream(lanes * WIDTH), source=Stream(most * WIDTH), width=WIDTH,
        **({} if filling is None else {"filling": bits(3)}),
    )  # fmt: skip
    at = 0
    offered = False
    begun = [1, (cut or 130) + 2]

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal at, offered
        values = {"rst": int(cycle == 0 or cycle == cut), "start": 0}
        values |= {"length": length, "lengths": lengths}
        values |= {} if filling is None else {"filling": filling}
        if cycle and offered and seen["sink_ready"]:
            at, offered = at + 1, False
        if cycle in begun or cycle == cut:
            at, offered = 0, False
            return values | {"start": int(cycle in begun), "sink_valid": 0, "source_ready": 0}
        offered = offered or (cycle > 1 and at < len(beats) and rng.random() < offer)
        values |= {"sink_valid": int(offered), "source_ready": int(rng.random() < ready)}
        if offered:
            values |= {"sink_data": beats[at], "sink_last": int(at == ends)}
        return values

    return bench.run(drive, 2 * 130 + 4), words


def pieces(words: list[int], most: int, length: int, filling: int) -> list[list[int]]:
    """The pieces of a run, without what lies behind the end of a length."""
    found = []
    for at in range(0, len(words), length):
        whole = words[at : at + length] + [0] * filling
        found += [whole[i : i + most] for i in range(0, len(whole), most)]
    return found


def check(got: list[tuple[int, int, int]], wanted: list[list[int]], masked: bool) -> None:
    """The words of each piece; zeros behind them where lengths are filled up."""
    assert len(got) == len(wanted)
    for index, ((_, data, last), piece) in enumerate(zip(got, wanted, strict=True)):
        value = sum(word << WIDTH * i for i, word in enumerate(piece))
        assert (data if masked else data & ((1 << WIDTH * len(piece)) - 1)) == value
        assert last == (index == len(wanted) - 1)


SIZES = [(4, 4, 3, 7), (4, 4, 9, 4), (2, 2, 5, 6), (8, 8, 1, 11), (4, 2, 7, 5), (4, 1, 3, 5)]


@pytest.mark.sample(8)
@pytest.mark.parametrize(("lanes", "most", "length", "lengths"), SIZES)
@pytest.mark.parametrize("filling", [None, 0, 1, 5])
def test_pieces_end_where_a_length_ends(
    lanes: int, most: int, length: int, lengths: int, filling: int | None
) -> None:
    for offer, ready in ((1.0, 1.0), (0.6, 0.7)):
        trace, words = run(lanes, most, length, lengths, filling, offer=offer, ready=ready)
        wanted = pieces(words, most, length, filling or 0)
        got = trace.transfers("source")
        assert len(got) == 2 * len(wanted)
        for of_run in (got[: len(wanted)], got[len(wanted) :]):
            check(of_run, wanted, filling is not None)
            if offer == 1:  # a piece per cycle, without a gap
                assert of_run[-1][0] - of_run[0][0] == len(wanted) - 1


@pytest.mark.parametrize("filling", [None, 3])
def test_a_reset_in_mid_run_leaves_nothing_behind(filling: int | None) -> None:
    for cut in (4, 5, 6, 7, 8):
        trace, words = run(4, 4, 7, 5, filling, cut=cut)
        wanted = pieces(words, 4, 7, filling or 0)
        check(
            [each for each in trace.transfers("source") if each[0] > cut][-len(wanted) :],
            wanted,
            False,
        )
        assert trace.column("sink_valid")[cut + 1]
        assert not trace.column("sink_ready")[cut + 1]  # before the start
        assert not trace.column("source_valid")[cut + 1]


@pytest.mark.parametrize("filling", [None, 3])
@pytest.mark.parametrize("last_at", [0, 3, 99])
def test_a_misplaced_last_is_another_pieces(last_at: int, filling: int | None) -> None:
    """Early it is another piece's, and the last piece has none; if it never comes, none has."""
    trace, words = run(4, 4, 7, 3, filling, last_at=last_at)
    wanted = pieces(words, 4, 7, filling or 0)
    lasts = [last for _, _, last in trace.transfers("source")[: len(wanted)]]
    right = [0] * (len(wanted) - 1) + [1]
    assert lasts != right
    assert any(lasts) == (last_at != 99 or filling is not None)


@pytest.mark.ghdl
@pytest.mark.verilator
@pytest.mark.parametrize("filling", [None, 5])
def test_vhdl_replays(filling: int | None, replays: Replays) -> None:
    trace, words = run(4, 4, 9, 4, filling, offer=0.7, ready=0.7)
    assert len(trace.transfers("source")) == 2 * len(pieces(words, 4, 9, filling or 0))
    replays(trace, lint=True)
