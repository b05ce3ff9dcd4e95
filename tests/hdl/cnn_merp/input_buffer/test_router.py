"""The routers by themselves: where each word goes, when it may, and what they tell of themselves.

Places are those of the pages: element (row r, column c, map i) in bank (r mod k, c mod k), address
(c div k) * maps + i of the place of its row in the ring; of a folded image element e of map i in
bank e, address i. Any floor is offered, and none of it has to make sense.
"""

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest

from block_bench import BlockBench, Recorded, Sample, at_random
from merp.hdl.base.signals import Stream, bits, count, flag, signals_of
from merp.hdl.cnn_merp.input_buffer.fold_router import fold_router
from merp.hdl.cnn_merp.input_buffer.map_router import map_router
from merp.hdl.cnn_merp.input_buffer.router import router
from merp.hdl.cnn_merp.input_buffer.wide_fold_router import wide_fold_router
from merp.hdl.cnn_merp.ports.maps import (
    BankWrite,
    Floor,
    FoldRowConfig,
    MapConfig,
    PortConfig,
    WideBankWrite,
)
from merp.hdl.cnn_merp.ports.windows import FoldedConfig, Intake, RouterConfig
from merp.hdl.cnn_merp.sequencer.position_layout import PositionWord
from merp.models.base.formats import BFLOAT16, BINARY32
from merp.models.machines.cnn_merp.params.design import EngineDesign

BLOCKS = {each.__name__: each for each in (router, fold_router, map_router, wide_fold_router)}


@dataclass(frozen=True)
class Word:
    """A word: its row (over all images), column and map; the banks that its elements go to.

    ``banks``: one of each element that counts. addr: in all of them.
    """

    row: int
    column: int
    channel: int
    banks: tuple[int, ...]
    addr: int


@dataclass(frozen=True)
class Run:
    """Words in order; what the registers hold; the row behind the last word."""

    words: list[Word]
    config: dict[str, int]
    behind: int
    folded: bool = False
    last: int | None = None  # the word that comes with last, if not the last one


def design_for(k: int, d: int, **changes: Any) -> EngineDesign:
    values = dict(
        fmt=BFLOAT16, k=k, n_cu=1, r=1, d=d, kernel_words=40, groups=1, row_words=24, max_size=12,
        max_maps=8, max_images=6, fifo_words=1,
    )  # fmt: skip
    return EngineDesign(**(values | changes))


def convolution(design: EngineDesign, rows: int, columns: int, maps: int, images: int) -> Run:
    k, lanes = design.k, design.map_port
    pieces = -(-maps // lanes)
    words = []
    for g, c, i in product(range(images * rows), range(columns), range(pieces)):
        ring = g // k % design.d * design.row_words
        bank = g % k * k + c % k
        words.append(Word(g, c, i * lanes, (bank,) * lanes, ring + c // k * pieces + i))
    config = {"rows": rows, "columns": columns, "inputs": maps, "images": images, "words": pieces}
    return Run(words, config, images * rows)


def folded(design: EngineDesign, maps: int, rows: list[int]) -> Run:
    """Images of so many maps, ``rows`` of them in each row: one, where they are no columns."""
    k, taps, lanes = design.k, design.taps, design.map_port
    words = []
    for number, images in enumerate(rows):
        ring = number % design.d * design.row_words
        for image, beat in product(range(images), range(-(-maps * taps // lanes))):
            first = beat * lanes
            there = range(first, min(first + lanes, maps * taps))
            channel = first // taps
            if lanes > 1:  # each image begins with a word
                addr = ring + image * -(-maps // lanes) + channel // lanes
            else:
                channel = addr = channel + image * maps
                addr += ring
            banks = tuple(e % taps for e in there)
            words.append(Word(number * k + k - 1, k - 1, channel, banks, addr))
    config = {
        "inputs": maps, "images": len(rows), "row_maps": maps * rows[-1], "words": 1,
        "first_row_maps": maps * rows[0], "out_columns": rows[-1], "first_images": rows[0],
    }  # fmt: skip
    return Run(words, config, len(rows) * k, folded=True)


def args_for(name: str, design: EngineDesign) -> dict[str, Any]:
    word = PositionWord(design)
    wide = design.map_port > 1
    config: Any = MapConfig(design)
    rows = FoldRowConfig(design) if design.ku_kind == "row" else None
    if "fold_router" in name:
        config = FoldedConfig(config, rows)
    elif name == "map_router":
        port = PortConfig(design) if wide else None
        config = RouterConfig(config, port, flag() if design.folded else None, rows)
    column = None if "fold_router" in name else bits(word.column_width)
    return {
        "clk": flag(), "rst": flag(), "start": flag(), "enable": flag(),
        "config": config, "sink": Stream(design.map_port * design.fmt.width),
        "floor": Floor(word.row_width, word.column_width),
        "bank": (WideBankWrite if wide else BankWrite)(design),
        "intake": Intake(bits(word.row_width), column, count(design.row_words)),
        "design": design,
    }  # fmt: skip


def registers_of(args: dict[str, Any]) -> dict[str, str]:
    """Names of the registers by port."""
    config = args["config"]
    if isinstance(config, MapConfig):
        return {f"config_{name}": name for name in vars(config)}
    return {
        f"config_{bundle}_{register}": register
        for bundle in ("map", "port", "rows")
        if getattr(config, bundle, None) is not None
        for register in vars(getattr(config, bundle))
    }


def play(name: str, design: EngineDesign, runs: list[Run], seed: int) -> Recorded:
    rng = np.random.default_rng(seed)
    args = args_for(name, design)
    ports = registers_of(args)
    both = getattr(args["config"], "folded", None) is not None
    queue = list(runs)
    at = rest = 0
    run = queue[0]

    def drive(cycle: int, seen: Sample) -> dict[str, int]:
        nonlocal at, rest, run
        if cycle == 0:
            return {"rst": 1}
        values = {"rst": 0, "start": 0, "enable": int(rng.random() < 0.9), "sink_valid": 0}
        at += seen["sink_valid"] and seen["sink_ready"]
        if at == len(run.words) or cycle == 1:
            rest -= 1
            if rest < 0 and queue:
                run, at, rest = queue.pop(0), 0, 4
                values |= {port: run.config.get(name, 0) for port, name in ports.items()}
                if both:
                    values["config_folded"] = int(run.folded)
                values["start"] = 1
                return values
            return values | {"sink_valid": int(rng.random() < 0.5), "floor_open": 1}
        now = run.words[at]
        values |= {
            "floor_valid": int(rng.random() < 0.9),
            "floor_row_limit": now.row + int(rng.integers(2)),
            "floor_next_row_limit": now.row + int(rng.integers(2)),
            "floor_column": max(0, now.column + int(rng.integers(-1, 2))),
            "floor_open": int(rng.random() < 0.2),
        }
        if seen["sink_valid"] and not seen["sink_ready"]:
            return values | {"sink_valid": 1}
        last = len(run.words) - 1 if run.last is None else run.last
        return values | {
            "sink_valid": int(rng.random() < 0.8),
            "sink_data": int.from_bytes(
                rng.bytes(design.map_port * design.fmt.width // 8), "little"
            ),
            "sink_last": int(at == last),
        }

    cycles = sum(4 * len(each.words) + 20 for each in runs)
    return BlockBench(BLOCKS[name], **args).run(drive, cycles)


def check(name: str, design: EngineDesign, runs: list[Run], trace: Recorded) -> None:
    columns = {port.name: trace.column(port.name) for port in trace.ports}
    lanes, taps, k = design.map_port, design.taps, design.k
    starts = [cycle for cycle, start in enumerate(columns["start"]) if start]
    assert len(starts) == len(runs)
    ends = [*starts[1:], len(trace.rows) - 1]
    assert columns["intake_complete"][1] == 1
    assert columns["intake_framing_error"][1] == 0
    for run, begin, end in zip(runs, starts, ends, strict=True):
        at, wrong = 0, False
        wanted = len(run.words) - 1
        last = wanted if run.last is None else run.last
        for cycle in range(begin + 1, end):
            now = {port: values[cycle] for port, values in columns.items()}
            after = {port: values[cycle + 1] for port, values in columns.items()}
            over = at > wanted
            assert now["intake_complete"] == over, cycle
            assert now["intake_framing_error"] == wrong, cycle
            row, column = (run.behind, 0) if over else (run.words[at].row, run.words[at].column)
            assert now["intake_place_row"] == row, cycle
            if "intake_place_column" in now and not run.folded:
                assert now["intake_place_column"] == column, cycle
            if not over:
                assert now["intake_place_channel"] == run.words[at].channel, cycle
                assert now.get("intake_place_column", column) == column, cycle
            allowed = now["floor_valid"] and row < now["floor_row_limit"]
            if not run.folded:
                ahead = row < now["floor_next_row_limit"] and column < now["floor_column"]
                allowed = allowed or (now["floor_valid"] and ahead)
            allowed = now["enable"] and not over and (now["floor_open"] or allowed)
            assert now["sink_ready"] == bool(allowed), cycle
            accept = allowed and now["sink_valid"]
            if not accept:
                enables = ("bank_places",) if lanes > 1 else ("bank_rows", "bank_columns")
                assert not any(after[each] for each in enables), cycle
                continue
            word = run.words[at]
            assert after["bank_addr"] == word.addr, cycle
            assert after["bank_data"] == now["sink_data"], cycle
            if lanes == 1:
                (bank,) = word.banks
                place = (after["bank_rows"], after["bank_columns"])
                assert place == (1 << bank // k, 1 << bank % k), cycle
            else:
                for lane, bank in enumerate(word.banks):
                    assert after["bank_places"] >> lane * taps & (1 << taps) - 1 == 1 << bank
            wrong |= (at == last) != (at == wanted)
            at += 1
        assert at == len(run.words), f"{name}: {at} of {len(run.words)} words"


def with_errors(runs: list[Run]) -> list[Run]:
    """The same, two of them with ``last`` at a wrong place, and one without."""
    wrong = {1: 0, 2: -1}
    return [
        Run(run.words, run.config, run.behind, run.folded, wrong.get(index))
        for index, run in enumerate(runs)
    ]


def convolutions(design: EngineDesign) -> list[Run]:
    lanes = design.map_port
    sizes = [(5, 4, 2, 2), (1, 3, 1, 3), (4, 1, 3, 2), (7, 7, 1, 1), (2, 5, 2, 1)]
    return [convolution(design, r, c, n * lanes - (n > 1), i) for r, c, n, i in sizes]


@pytest.mark.parametrize(("k", "d"), [(1, 2), (2, 1), (3, 2), (3, 3)])
def test_words_of_convolutions(k: int, d: int) -> None:
    design = design_for(k, d, row_words=24)
    runs = with_errors(convolutions(design))
    check("router", design, runs, play("router", design, runs, 10 * k + d))


@pytest.mark.parametrize(("k", "d"), [(2, 1), (3, 2)])
def test_words_of_folded_images(k: int, d: int) -> None:
    design = design_for(k, d, folded=True)
    runs = with_errors([folded(design, n, [1] * i) for n, i in ((2, 3), (1, 5), (4, 2), (3, 1))])
    check("fold_router", design, runs, play("fold_router", design, runs, k))


def by_rows(k: int, d: int, **changes: Any) -> EngineDesign:
    return design_for(k, d, folded=True, cu_kind="fused", ku_kind="row", **changes)


@pytest.mark.parametrize("d", [1, 2])
def test_images_as_columns_of_a_row(d: int) -> None:
    design = by_rows(2, d, fmt=BINARY32)
    runs = [folded(design, n, rows) for n, rows in ((2, [1, 3, 3]), (3, [2, 2]), (1, [4]))]
    check("fold_router", design, runs, play("fold_router", design, runs, d))


@pytest.mark.parametrize("d", [1, 2])
def test_the_router_that_a_run_is_for_is_at_work(d: int) -> None:
    design = design_for(2, d, folded=True)
    runs = convolutions(design)[:3]
    runs = [each for run in runs for each in (run, folded(design, 2, [1, 1]))]
    check("map_router", design, runs, play("map_router", design, runs, d))


@pytest.mark.parametrize(("name", "lanes"), [("map_router", 1), ("map_router", 2)])
def test_an_error_of_one_router_is_over_when_the_other_one_begins(name: str, lanes: int) -> None:
    design = design_for(3, 1, folded=True, map_port=lanes)
    pair = [folded(design, 2, [1, 1]), convolution(design, 3, 3, 2, 1)]
    wrong = [Run(run.words, run.config, run.behind, run.folded, last=0) for run in pair]
    runs = [wrong[0], pair[1], wrong[1], pair[0]]
    trace = play(name, design, runs, lanes)
    check(name, design, runs, trace)
    assert trace.column("intake_framing_error")[-1] == 0


@pytest.mark.parametrize(("k", "lanes", "d"), [(3, 2, 2), (2, 4, 1)])
def test_pieces_of_pixels(k: int, lanes: int, d: int) -> None:
    design = design_for(k, d, map_port=lanes)
    runs = with_errors(convolutions(design))
    check("map_router", design, runs, play("map_router", design, runs, lanes))


@pytest.mark.parametrize(("lanes", "d"), [(2, 2), (4, 1), (8, 3)])
def test_beats_of_folded_images(lanes: int, d: int) -> None:
    design = design_for(3, d, folded=True, map_port=lanes)
    runs = [folded(design, n, [1] * i) for n, i in ((3, 4), (1, 3), (5, 2), (lanes + 1, 4))]
    runs = [each for each in runs if each.config["inputs"] <= design.max_maps]
    runs = with_errors(runs)
    check("wide_fold_router", design, runs, play("wide_fold_router", design, runs, lanes))
    both = [each for run in runs[:2] for each in (run, convolution(design, 2, 3, 5, 2))]
    check("map_router", design, both, play("map_router", design, both, lanes))


@pytest.mark.parametrize("d", [1, 2])
def test_beats_of_images_as_columns(d: int) -> None:
    design = by_rows(3, d, fmt=BINARY32, map_port=2)
    runs = [folded(design, n, rows) for n, rows in ((3, [1, 3, 3]), (2, [2, 2]), (1, [4]))]
    check("wide_fold_router", design, runs, play("wide_fold_router", design, runs, d))


@pytest.mark.parametrize(
    ("name", "lanes"),
    [("router", 1), ("fold_router", 1), ("map_router", 2), ("wide_fold_router", 2)],
)
def test_after_a_reset_it_is_as_new(name: str, lanes: int) -> None:
    """Before the next start as well: there is no error, and nothing more is taken."""
    design = design_for(3, 1, folded="fold" in name, map_port=lanes)
    args = args_for(name, design)
    run = folded(design, 2, [1, 1]) if "fold" in name else convolution(design, 3, 3, 2, 1)
    fixed = {port: run.config.get(each, 0) for port, each in registers_of(args).items()}
    rates = {"enable": 0.9, "sink_valid": 0.8, "sink_last": 0.4, "floor_open": 0.9}
    pulses = {"rst": 0, "start": (1, 5)}
    session = at_random(rates, {"sink_data": 16 * lanes}, fixed, begin=1, pulses=pulses)
    places = [f"intake_place_{name}" for name, _ in signals_of(args["intake"].place)]
    # A word that came in the very cycle of the reset is still written; places are set by start.
    enables = ("bank_places",) if lanes > 1 else ("bank_rows", "bank_columns")
    late = dict.fromkeys(enables, 2) | dict.fromkeys(places, 6)
    payload = {enables[0]: "bank_addr bank_data"}
    BlockBench(BLOCKS[name], **args).as_new_after_reset(
        session, range(2, 14, 2), 30, payload=payload, late=late
    )
