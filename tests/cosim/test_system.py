"""An engine that runs from a simulated board's memory: bits, counts, the bus, and failures."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forward_board import OnBoard, a_pass, forward_board

from marks import in_full
from merp.cosim.board.build import Built
from merp.cosim.board.dram import Dram
from merp.cosim.board.play import check_bus, crossed, play, play_list
from merp.cosim.board.runs import placed_run
from merp.cosim.board.simulated import Buffer, SimulatedBoard
from merp.cosim.board.step_bus import step_bus
from merp.cosim.board.system_engine import memory_for, port_for
from merp.cosim.board.words import beats_for, from_memory, to_memory
from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.loader import part_for, phase_of
from merp.cosim.phases.audit.run_and_audit import run_and_audit
from merp.models.base.errors import BadInput, CheckFailed
from merp.models.golden.golden_step import GoldenStep
from merp.models.golden.initial import parameters
from merp.testbenches.top.run import DerivedSource
from merp.testbenches.top.top import Pin, TopPorts
from merp.tools.common.input_maps import random_maps
from merp.tools.common.shipped import open_network
from needed_tools import needs
from terminal import Terminal

LIMIT = 100_000


@pytest.fixture(scope="module")
def forward() -> OnBoard:
    return forward_board()


@needs("litedram")
@pytest.mark.verilator
@pytest.mark.parametrize("phase", ["fp", *in_full("ku", "dp")])
def test_a_pass_has_the_goldens_bits_and_counts(phase: str) -> None:
    """Also the cycles between words on the pins are those of the counters."""
    top, found = a_pass(phase, "conv2" if phase == "dp" else "conv1")
    (audited,) = run_and_audit(top, [found], "system")
    assert audited.audit.failures == ()
    assert audited.audit.words_compared > 30
    assert audited.audit.mismatches == 0


@needs("litedram")
@pytest.mark.verilator
def test_the_host_rings_once_and_the_bus_carries_the_formula(forward: OnBoard) -> None:
    board = SimulatedBoard(forward.library)
    played, words = play(board, forward.system, forward.found.run, forward.outputs, LIMIT)
    golden = forward.found.expected.ports["map_out"].golden
    assert golden is not None
    np.testing.assert_array_equal(words["m_axis_map"], golden.reshape(-1))
    recorded = 1 + forward.system.engines[0].counters
    assert played.formula.write.useful == 4 * (forward.outputs["m_axis_map"] + recorded)
    moves = played.passes[0].moves
    inputs = sum(each.words for name, each in moves.items() if name.startswith("s_"))
    assert played.formula.read.useful > 4 * inputs, "the list is read as well"
    assert played.bus.write.bytes == played.formula.write.useful


@needs("litedram")
@pytest.mark.verilator
def test_the_record_of_a_list_has_the_counts_of_the_bus(forward: OnBoard) -> None:
    board = SimulatedBoard(forward.library)
    played, _ = play(board, forward.system, forward.found.run, forward.outputs, LIMIT)
    moved, ports = played.passes[0].moves, forward.system.engines[0].ports
    elements = {"read": ports.inputs, "write": ports.outputs}
    for name, pins in elements.items():
        found, bus = getattr(played.record, name), getattr(played.bus, name)
        formula = getattr(played.formula, name)
        assert (found.bytes, found.beats, found.bursts) == (bus.bytes, bus.beats, bus.bursts)
        assert (found.row_hits, found.row_misses) == (bus.row_hits, bus.row_misses)
        assert found.row_hits + found.row_misses == found.beats
        assert found.windows == bus.windows
        assert sum(found.windows) == found.bytes
        assert found.latency.answered == sum(found.bursts.values())
        assert found.useful + found.padding == formula.useful
        assert found.partial == (formula.wasted if name == "read" else 0)
        other = found.useful - sum(moved[pin.name].words * pin.element // 8 for pin in pins)
        assert other > 0, "commands and records"
        assert other % 4 == 0
    assert (played.record.lists, played.record.cycles) == (1, played.bus.cycles)


@needs("litedram")
@pytest.mark.verilator
def test_a_pass_that_expects_too_many_words_names_the_stream(forward: OnBoard) -> None:
    """The engine ends, and the writer still waits for a word: the limit ends the list."""
    more = {name: words + 1 for name, words in forward.outputs.items()}
    board = SimulatedBoard(forward.library)
    with pytest.raises(CheckFailed, match=r"time at command \d+, waiting for forward m_axis_map"):
        play(board, forward.system, forward.found.run, more, 5_000)
    _, words = play(board, forward.system, forward.found.run, forward.outputs, LIMIT)
    golden = forward.found.expected.ports["map_out"].golden
    assert golden is not None
    np.testing.assert_array_equal(
        words["m_axis_map"], golden.reshape(-1), "the next list runs without a reset"
    )


@needs("litedram")
@pytest.mark.verilator
def test_an_illegal_setting_ends_the_list_before_the_engine_starts(forward: OnBoard) -> None:
    run = forward.found.run
    name = next(iter(run.config))
    wrong = replace(run, config={**run.config, name: (1 << 32) - 1})
    board = SimulatedBoard(forward.library)
    with pytest.raises(CheckFailed, match=r"list: unexpected at command 4"):
        play(board, forward.system, wrong, forward.outputs, LIMIT)
    assert board.passes == []


@needs("litedram")
@pytest.mark.verilator
def test_a_memory_that_is_too_small_is_told_before_the_start(forward: OnBoard) -> None:
    board = SimulatedBoard(forward.library)
    many = {name: 1 << 30 for name in forward.outputs}
    with pytest.raises(BadInput, match="memory"):
        play(board, forward.system, forward.found.run, many, LIMIT)
    assert board.bus.busy == 0


@needs("litedram")
@pytest.mark.verilator
def test_a_wrong_count_on_the_bus_is_a_failure(forward: OnBoard) -> None:
    board = SimulatedBoard(forward.library)
    played, _ = play(board, forward.system, forward.found.run, forward.outputs, LIMIT)
    for direction in ("read", "write"):
        traffic = getattr(played.formula, direction)
        wrong = played.formula._replace(**{direction: replace(traffic, beats=traffic.beats + 1)})
        with pytest.raises(CheckFailed, match=f"bus: {direction[:4]}.* beats: "):
            check_bus(played.bus, wrong)


@needs("litedram")
@pytest.mark.verilator
def test_a_byte_more_or_less_on_the_bus_is_an_element(forward: OnBoard) -> None:
    board = SimulatedBoard(forward.library)

    def alloc(size: int) -> int:
        return board.alloc(size).address

    system, (engine,) = forward.system, forward.system.engines
    run = placed_run(system, engine, forward.found.run, forward.outputs, alloc, LIMIT)
    for address, data in run.content.items():
        board.to_device(Buffer(address, data.size), data)
    play_list(board, run.commands, LIMIT)
    [each], [seen] = run.commands.passes, board.passes
    right = {stream: moved.elements for stream, moved in each.moves.items()}
    assert crossed(system, each, seen) == right
    first = len(system.design.readers)
    for change in (1, -1):
        for stream in right:
            number = engine.movers[stream][0]
            way, place = (seen.read, number) if number < first else (seen.write, number - first)
            way.bytes[place] += change
            wrong = {**right, stream: right[stream] + change}
            assert crossed(system, each, seen) == wrong
            way.bytes[place] -= change


def test_the_port_has_an_id_for_each_stream() -> None:
    def ports(inputs: int, outputs: int) -> TopPorts:
        pins = [
            tuple(Pin(f"{side}_axis_{at}", 32) for at in range(each))
            for side, each in (("s", inputs), ("m", outputs))
        ]
        return TopPorts(inputs=pins[0], outputs=pins[1], config=(), status=())

    found = [port_for({"a": ports(inputs, 3)}, Dram()).id_bits for inputs in (1, 15, 16, 28)]
    assert found == [4, 4, 5, 5]
    shared = {"a": ports(15, 1), "b": ports(3, 12)}
    assert port_for(shared, Dram()).id_bits == 4, "15 are read, 12 are written"
    with pytest.raises(BadInput, match="32 streams: allowed are at most 31"):
        port_for({"a": ports(20, 12)}, Dram())


@pytest.mark.parametrize("array", ["behavioural"])
def test_arrays_that_are_no_hardware_are_refused(array: str) -> None:
    top, found = a_pass("fp")
    with pytest.raises(ValueError, match="engine system runs the hardware: array must be rtl"):
        run_job(Job(replace(top, array=array), [found.run]), "system")


def test_the_memory_is_as_wide_as_the_widest_word() -> None:
    found = [memory_for([Pin("s_axis_a", 32), Pin("s_axis_b", bits)]) for bits in (8, 129, 512)]
    assert [memory.port_bits for memory in found] == [128, 256, 512]
    with pytest.raises(BadInput, match="s_axis_b: beats of 1024 bits: allowed are at most 512"):
        memory_for([Pin("s_axis_a", 32), Pin("s_axis_b", 1024, 32)])


def test_a_given_memory_holds_a_word_of_each_stream() -> None:
    given = Dram(data_bits=32, clock_mhz=125)
    assert memory_for([Pin("s_axis_a", 256)], given) == given
    with pytest.raises(
        BadInput,
        match="s_axis_b: beats of 257 bits: allowed on a memory of 32 bits are at most 256",
    ):
        memory_for([Pin("s_axis_a", 32), Pin("s_axis_b", 257)], given)


@pytest.mark.parametrize(
    ("pin", "word_bytes"),
    [
        (Pin("a", 32), 4),
        (Pin("a", 12), 2),
        (Pin("a", 1), 1),
        (Pin("a", 64, 4), 8),
        (Pin("a", 40), 8),
    ],
)
def test_words_come_back_from_memory(pin: Pin, word_bytes: int) -> None:
    rng = np.random.default_rng(3)
    for count in (13, 1, 0):
        elements = rng.integers(0, 1 << pin.element, count, dtype=np.uint64)
        data = to_memory(elements, pin, word_bytes)
        assert data.size == beats_for(count, pin) * word_bytes
        np.testing.assert_array_equal(from_memory(data, pin, count), elements)


def test_words_are_little_endian_with_zeros_above() -> None:
    words = np.array([0x123, 0xFFF], np.uint32)
    assert to_memory(words, Pin("a", 12), 2).tolist() == [0x23, 0x01, 0xFF, 0x0F]
    assert to_memory(words, Pin("a", 24, 2), 4).tolist() == [0x23, 0xF1, 0xFF, 0]


def test_runs_that_a_memory_cannot_play_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    top, found = a_pass("fp")
    monkeypatch.setattr(
        "merp.cosim.board.system_engine.built", lambda *_: Built(Path(__file__), None, None)
    )
    monkeypatch.setattr("merp.cosim.board.system_engine.SimulatedBoard", lambda _: None)
    for run, message in (
        (found.run.under({"s_axis_map": (1, 0)}), "memory decides about stalls"),
        (found.run.under(reset_at=5), "memory decides about stalls"),
        (
            replace(found.run, answers={"s_axis_bias": DerivedSource("m_axis_map", 1, 1)}),
            "inputs that depend on outputs of the same run are not supported: s_axis_bias",
        ),
    ):
        with pytest.raises(BadInput, match=message):
            run_job(Job(top, [run]), "system")


@pytest.mark.full
@needs("litedram")
@pytest.mark.verilator
def test_beats_of_several_elements_whose_last_one_is_not_whole() -> None:
    network = open_network("digits")
    layer = network.layer("conv2")
    made = phase_of(network, layer, "fp")
    wide = type(made)(network, replace(made.design, map_port=8))
    step = GoldenStep(network, network.layers, random_maps(network, 1), parameters(network, 0))
    found = wide.golden_pass(layer, 0, step)
    (audited,) = run_and_audit(wide.top(), [found], "system")
    assert audited.audit.failures == ()


def check_record(name: str, found: Any, *, batch: int, steps: int) -> None:
    """Compare the record of a training with the formulas of its lists."""
    network = open_network(name)
    plan = part_for(network, "system")(network, batch, momentum=True)
    lists = step_bus(plan).lists
    assert found["lists"].keys() == lists.keys()
    for list_name, each in found["lists"].items():
        assert each["lists"] == steps
        total = lists[list_name].total
        for way in ("read", "write"):
            counted, formula = each[way], getattr(total, way)
            assert counted["useful"] == steps * formula.ports
            assert counted["padding"] == steps * formula.padding
            assert counted["partial"] == steps * formula.partial
            assert counted["beats"] == steps * formula.beats
            assert sum(counted["bursts"].values()) == steps * formula.bursts
            assert counted["row_hits"] + counted["row_misses"] == counted["beats"]
            assert sum(counted["windows"]) == counted["bytes"]
    total = found["total"]
    for key in ("bytes", "useful", "beats", "row_hits", "row_misses"):
        for way in ("read", "write"):
            assert total[way][key] == sum(each[way][key] for each in found["lists"].values())
    assert total["lists"] == steps * len(lists)


@pytest.mark.full
@needs("litedram", "scikit-learn")
@pytest.mark.verilator
@pytest.mark.parametrize(
    ("network", "loss", "rings"), [("digits", "cross-entropy", 2), ("digits-fixed", "hinge", 1)]
)
def test_training_on_a_board_saves_the_goldens_file(
    network: str, loss: str, rings: int, tmp_path: Path, terminal: Terminal
) -> None:
    """One list per ring has all passes: none of them is left to the host."""
    common = ("train", network, "--data", "digits", "--loss", loss, "--batch", 4, "--steps", 3)
    files = {engine: tmp_path / f"{engine}.npz" for engine in ("golden", "system")}
    for engine, file in files.items():
        ended = terminal.run(*common, "--engine", engine, "--save", file, "--json")
        assert ended.status == 0, ended.err
    answer = json.loads(ended.out)
    assert answer["rings"] == rings
    check_record(network, answer["bus"], batch=4, steps=3)
    assert files["golden"].read_bytes() == files["system"].read_bytes()
