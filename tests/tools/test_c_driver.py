"""The C driver in the package of ``merp system``: its lists, its registers, its messages."""

import re
import shutil
import subprocess
from ctypes import byref, c_uint32
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from c_driver import (
    FAILED,
    INTERRUPT,
    MEMORY,
    NO_SETTING,
    NOT_WIRED,
    OK,
    OTHER_DESIGN,
    POLLING,
    STUCK,
    TIME,
    CDriver,
    compiled,
)
from narrow_part import narrow
from register_board import RegisterBoard
from system_files import read, words_of
from unconverted import unconverted

import merp
from checkout import ROOT
from merp.cosim.board.step_lists import placed_lists
from merp.cosim.machines.mac_array.phases.array_phase import FixedRates
from merp.cosim.machines.mac_array.step_plan import board_phases, step_plan
from merp.models.machines.mac_array.memory.step_memory import StepMemory
from merp.models.memory.layout import Layout
from merp.models.memory.params.commands import Failure, Operation
from merp.tools.common.shipped import open_network
from merp.tools.fpga.system.driver import UPDATES, constants
from merp.tools.fpga.system.planned_system import planned_step
from merp.tools.fpga.system.request import SystemOptions
from needed_tools import needs

LAYERS = "conv1", "conv2", "fc3"
"""Layers of tiny3 and of digits-fixed."""

CASES = {"tiny3": (1, False), "digits-fixed": (2, True)}
"""Images and momentum of a package."""


@pytest.fixture(scope="module", params=CASES)
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package without hardware."""
    folder = tmp_path_factory.mktemp("system") / str(request.param)
    images, momentum = CASES[request.param]
    with pytest.MonkeyPatch.context() as patch:
        unconverted(patch)
        merp.load(request.param).system(images, output=folder, momentum=momentum)
    return folder


def opened(made: Path, address: int | None = None) -> CDriver:
    """The driver of a package on registers, after ``merp_open``."""
    memory = _value(made, "ADDRESS")
    address = memory if address is None else address
    size = _value(made, "BYTES")
    board = RegisterBoard(read(made, "registers")["host"], address, size)
    driver = CDriver(made / "driver", board, address, size, count().__next__)
    assert driver.call("open") == OK
    return driver


def _value(made: Path, name: str) -> int:
    text = (made / "driver" / "system.h").read_text()
    found = re.search(rf"^#define MERP_{name} (0x\w+|\d+)u?$", text.replace("u\n", "\n"), re.M)
    assert found is not None
    return int(found[1], 0)


def bytes_of(driver: CDriver, first: int, each: Any) -> bytes:
    """The bytes of a list in the memory of the board; ``first`` is the arena's in the package."""
    begin = each["address"] - first
    return driver.board.memory[begin : begin + 4 * each["words"]].tobytes()


@needs("gcc")
def test_the_lists_are_those_of_the_package(made: Path) -> None:
    driver, first = opened(made), _value(made, "ADDRESS")
    lists = read(made, "lists")["lists"]
    assert lists
    for each in lists:
        assert bytes_of(driver, first, each) == words_of(made, each).tobytes()


@needs("gcc")
def test_each_bitstream_has_a_driver_for_its_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unconverted(monkeypatch)
    made = tmp_path / "made"
    merp.load("tiny3").system(output=made, board=narrow(tmp_path, 0.17))
    folders = sorted(made.glob("bitstream*"))
    assert len(folders) > 1
    for folder in folders:
        driver, first = opened(folder), _value(folder, "ADDRESS")
        for each in read(folder, "lists")["lists"]:
            assert bytes_of(driver, first, each) == words_of(folder, each).tobytes()
        word = c_uint32()
        assert driver.call("load", byref(word)) == 0
        driver.board.tell(status_load=1, status_bitstream=1)
        assert (driver.call("load", byref(word)), word.value) == (1, 1)


@needs("gcc")
def test_the_lists_at_another_address_are_those_of_python(made: Path) -> None:
    address = 0x4000_0040
    driver, first = opened(made, address), _value(made, "ADDRESS")
    facts = read(made, "lists")
    asked = SystemOptions(
        network=facts["network"], images=facts["images"], momentum=facts["momentum"], output=made
    )
    (planned,) = planned_step(open_network(asked.network), asked).systems
    layout = Layout.of(planned.plan.arrays.values(), address, 1 << 32)
    systems = dict.fromkeys(planned.plan.lists, planned.system)
    lists, _ = placed_lists(planned.plan, systems, layout, 1 << 32)
    for each in facts["lists"]:
        wanted = lists[each["name"]]
        assert wanted.address - address == each["address"] - first
        assert bytes_of(driver, first, each) == wanted.words.astype("<u4").tobytes()


def array_lists(images: int, rates: FixedRates) -> Any:
    """The passes of a step of digits-fixed with momentum, at other rates."""
    network = open_network("digits-fixed")
    phases = board_phases(network, "hinge", momentum=True)
    memory = StepMemory(network, phases["fp"].design, images, "hinge")
    return step_plan(phases, memory, rates).lists


@needs("gcc")
@pytest.mark.parametrize("made", ["digits-fixed"], indirect=True)
def test_settings_of_an_update_change_in_all_of_its_passes(made: Path) -> None:
    """The lists are then those of Python with the other rates."""
    images = CASES["digits-fixed"][0]
    driver, first = opened(made), _value(made, "ADDRESS")
    rates = FixedRates(rate=0.37, momentum=0.25, seed=5, step=3)
    (facts,) = read(made, "lists")["lists"]
    words = words_of(made, facts)
    (passes,) = array_lists(images, rates).values()
    for each, row in zip(passes, facts["passes"], strict=True):
        for place, name in enumerate(row["settings"]["names"]):
            words[row["settings"]["word"] + place] = each.config[name]
        if each.phase == "ku":
            for update, name in enumerate(UPDATES):
                known = name in each.config
                wanted = OK if known else NO_SETTING
                value = each.config.get(name, 0)
                layer = LAYERS.index(each.layer)
                assert driver.call("set", 0, layer, update, value) == wanted
    assert (words != words_of(made, facts)).sum() > images * len(LAYERS)
    assert bytes_of(driver, first, facts) == words.astype("<u4").tobytes()


@needs("gcc")
def test_a_ring_makes_the_writes_of_the_package(made: Path) -> None:
    driver = opened(made)
    for number, each in enumerate(read(made, "lists")["lists"]):
        driver.board.writes.clear()
        driver.call("ring", number)
        assert driver.board.writes == [(row["offset"], row["value"]) for row in each["ring"]]


@needs("gcc")
def test_a_wait_ends_by_the_status_the_interrupt_or_the_limit(made: Path) -> None:
    driver = opened(made)
    board, busy, done = driver.board, 1, 2
    for status in (0, busy, busy | done, done | 8):
        board.tell(status=status)
        assert driver.call("run", 0, 100, POLLING) == TIME
    board.tell(status=done)
    assert driver.call("run", 0, 0, POLLING) == OK
    assert driver.call("run", 0, 100, INTERRUPT) == TIME  # the driver never looked at the status

    def handler() -> int:
        driver.call("interrupt")
        return 0

    driver.clock = handler
    assert driver.call("run", 0, 100, INTERRUPT) == OK
    assert board.writes[-1] == (board.offsets["interrupt"], 1)
    board.tell(status_failure=Failure.TIME)
    assert driver.call("run", 0, 100, INTERRUPT) == FAILED
    assert driver.call("wait", 100, POLLING) == FAILED


@needs("gcc")
def test_a_clock_that_wraps_around_keeps_the_limit(made: Path) -> None:
    driver, seen = opened(made), count(0xFFFF_FFF0)
    driver.clock = lambda: next(seen) & 0xFFFF_FFFF
    assert driver.call("wait", 100, POLLING) == TIME
    assert next(seen) - 0xFFFF_FFF0 == 102


@needs("gcc")
def test_a_failure_has_its_reason_its_command_and_its_pass(made: Path) -> None:
    driver = opened(made)
    lists = read(made, "lists")["lists"]
    streams = [each["stream"] for each in lists[0]["passes"][0]["walks"].values()]
    driver.board.tell(
        status_failure=Failure.MEMORY, status_commands=4, status_waiting=5,
        status_error_stream=streams[0], status_error_address=0x1234, status_cycles=99,
    )  # fmt: skip
    found = driver.cause(0)
    assert [getattr(found, name) for name, _ in found._fields_] == [
        Failure.MEMORY, 4, 0, 5, streams[0], 0x1234, 99,
    ]  # fmt: skip
    for each in Failure:
        assert driver.name("failure", each) == each.name.lower()
    assert driver.name("failure", len(Failure)) == "unknown"
    assert driver.name("stream", 32) == "unknown"
    heads = commands_of(words_of(made, lists[-1]))
    waits = [number for number, head in enumerate(heads, 1) if head >> 24 == 5]
    for number, command in enumerate(waits):
        driver.board.tell(status_commands=command)
        last = len(lists[-1]["passes"]) - 1  # the last wait is that of the records
        assert driver.cause(len(lists) - 1).pass_ == min(number, last)


def commands_of(words: Any) -> list[int]:
    """The first words of the commands of a list."""
    heads, at = [], 0
    while at < len(words):
        head = int(words[at])
        heads.append(head)
        at += 1 if head >> 24 == 6 else 1 + (head >> 16 & 0xFF)
    return heads


@needs("gcc")
def test_a_self_test_says_how_a_list_ends(made: Path) -> None:
    driver = opened(made)
    board, written = driver.board, driver.board.write32
    assert driver.call("self_test", 10) == TIME
    board.tell(status=2)
    assert driver.call("self_test", 10) == NOT_WIRED

    def rung(offset: int, value: int) -> None:
        written(offset, value)
        if offset == board.offsets["control"]:
            driver.call("interrupt")

    board.write32 = rung
    assert driver.call("self_test", 10) == OK
    for failure, result in (Failure.ILLEGAL, FAILED), (Failure.UNEXPECTED, OTHER_DESIGN):
        board.tell(status_failure=failure)
        assert driver.call("self_test", 10) == result

    def stuck(offset: int, value: int) -> None:
        written(offset, value)
        if offset == board.offsets["interrupt_enable"]:
            driver.state.came = 1

    board.write32 = stuck
    assert driver.call("self_test", 10) == STUCK


@needs("gcc")
def test_a_self_test_compares_the_hash_of_each_engine(made: Path) -> None:
    driver, first = opened(made), _value(made, "ADDRESS")
    board, written, rung = driver.board, driver.board.write32, []
    board.tell(status=2)

    def keep(offset: int, value: int) -> None:
        written(offset, value)
        if offset == board.offsets["control"]:
            told = dict(board.writes)
            begin = told[board.offsets["list_low"]] - board.first
            size = 4 * told[board.offsets["list_words"]]
            rung.append(board.memory[begin : begin + size].view("<u4").tolist())

    board.write32 = keep
    assert driver.call("self_test", 10) == NOT_WIRED
    wanted = []
    for engine in read(made, "registers")["engines"]:
        (row,) = (each for each in engine["registers"] if each["name"] == "configuration")
        index = engine["first_register"] + row["offset"] // 4
        wanted += [Operation.EXPECT << 24 | 1 << 16 | index, row["reset"]]
    assert rung == [[*wanted, Operation.END << 24]]
    for each in read(made, "lists")["lists"]:
        assert bytes_of(driver, first, each) == words_of(made, each).tobytes()


@needs("gcc")
def test_an_abort_waits_until_memory_owes_nothing(made: Path) -> None:
    driver = opened(made)
    assert driver.call("abort", 10) == TIME
    driver.board.tell(status=2)
    assert driver.call("abort", 10) == OK
    assert driver.board.writes[-1] == (driver.board.offsets["control"], 2)


@needs("gcc")
def test_another_design_and_a_wrong_arena_are_refused(made: Path) -> None:
    driver = opened(made)
    for name in ("ident", "configuration"):
        value = driver.board.registers[driver.board.offsets[name]]
        driver.board.tell(**{name: value ^ 1})
        assert driver.call("open") == OTHER_DESIGN
        driver.board.tell(**{name: value})
    size = driver.state.bytes
    for address, given in ((4096, size - 1), (4100, size), ((1 << 32) - 64, size)):
        driver.state.address, driver.state.bytes = address, given
        assert driver.call("open") == MEMORY


def test_the_sources_are_short_and_have_no_library() -> None:
    folder = ROOT / "tools" / "data" / "export" / "driver"
    texts = [(folder / name).read_text() for name in ("merp.h", "merp.c")]
    assert sum(len(text.splitlines()) for text in texts) <= 500
    included = {name for text in texts for name in re.findall(r"#include ([<\"].*[>\"])", text)}
    assert included == {"<stdint.h>", '"merp.h"', '"system.h"'}


def test_names_that_become_equal_in_c_get_numbers() -> None:
    assert constants(["a b", "a.b", "A_B", "a b 2"]) == ["A_B", "A_B_2", "A_B_3", "A_B_2_2"]


TARGETS = {
    "host": ("gcc", ()),
    "arm": ("arm-none-eabi-gcc", ("-mcpu=cortex-m3", "-mthumb")),
    "riscv": ("riscv64-unknown-elf-gcc", ("-march=rv32im", "-mabi=ilp32")),
}
"""Compiler and options of each target."""

BARE = ROOT / "tests" / "house" / "bare_metal"


@pytest.mark.parametrize(
    "target",
    [
        pytest.param(name, marks=[needs(of), *([] if name == "host" else [pytest.mark.board])])
        for name, (of, _) in TARGETS.items()
    ],
)
def test_compilers_have_no_warning_and_no_function_is_missing(
    target: str, made: Path, tmp_path: Path
) -> None:
    compiler, options = TARGETS[target]
    for level in ("-O2", "-Os"):
        found = compiled(
            [made / "driver" / "merp.c"], tmp_path / "merp.o", compiler, *options, level, "-c"
        )
        nm = shutil.which(compiler.replace("gcc", "nm"))
        assert nm is not None
        named = subprocess.run([nm, "-u", found], capture_output=True, text=True, check=True)
        assert named.stdout == ""


MACHINES = {
    "arm": ("qemu-system-arm", "-M lm3s6965evb -semihosting-config enable=on,target=native"),
    "riscv": ("qemu-system-riscv32", "-M virt -bios none"),
}


@pytest.mark.board
@pytest.mark.parametrize(
    "target", [pytest.param(n, marks=needs(TARGETS[n][0], of)) for n, (of, _) in MACHINES.items()]
)
@pytest.mark.parametrize("made", ["tiny3"], indirect=True)
def test_processors_encode_the_lists(target: str, made: Path, tmp_path: Path) -> None:
    """QEMU runs the driver on registers in memory; it prints the sum of the words of each list."""
    compiler, options = TARGETS[target]
    sources = [BARE / "main.c", BARE / f"{target}.c", made / "driver" / "merp.c"]
    program = compiled(
        sources, tmp_path / "program.elf", compiler, *options, "-O2", "-nostdlib",
        f"-I{made / 'driver'}", f"-T{BARE / f'{target}.ld'}",
    )  # fmt: skip
    emulator, machine = MACHINES[target]
    command = shutil.which(emulator)
    assert command is not None
    ended = subprocess.run(
        [command, *machine.split(), "-nographic", "-kernel", str(program)],
        capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    lists = read(made, "lists")["lists"]
    sums = [f"list {number_of(words_of(made, each)):08x}" for each in lists]
    said = [*sums, "ring ok", "time ok", "failed ok", "end"]
    lines = (ended.stdout + ended.stderr).splitlines()
    assert [line for line in lines if not line.startswith("Timer with period zero")] == said
    assert ended.returncode == 0


def number_of(words: Any) -> int:
    """The sum of words that main.c prints: each word changes the sums of all words behind it."""
    found = 0
    for word in words.tolist():
        found = (found * 31 + word) & 0xFFFF_FFFF
    return found
