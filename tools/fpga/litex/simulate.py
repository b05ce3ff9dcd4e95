"""Simulate a LiteX system until its firmware has trained, and compare it with the golden model."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from subprocess import PIPE
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from merp.cosim.engines.programs.build_cache import Entry
from merp.cosim.engines.programs.children import Children
from merp.cosim.engines.programs.scratch import scratch
from merp.cosim.engines.simulators import Verilator, find_verilator
from merp.cosim.engines.verilator_make import call, compile_model
from merp.models.base.errors import CheckFailed
from merp.tools.common.progress import Progress
from merp.tools.fpga.litex.examples import EXAMPLES, Examples, words_of
from merp.tools.fpga.litex.programs import FOLDER, generate

HARNESS: Final = "simulation.cpp"
EXECUTABLE: Final = "simulation"
TOP: Final = "board"
MOST_CYCLES: Final = 400_000_000
FLAGS: Final = (
    "--cc", "--exe", "-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert",
    "-Wno-lint", "-Wno-style", "-Wno-fatal", "--output-split", "100000", "--inline-mult", "1",
)  # fmt: skip
OPTIMISE: Final = ("OPT_FAST=-O2", "OPT_SLOW=-O0", "OPT_GLOBAL=-O2")
_COMMENT = re.compile(r"//.*")  # LiteX writes the date into its comments
_EPOCH = re.compile(
    r"epoch (\d+): loss (\d+\.\d{6}), right (\d+) of (\d+), checksum ([0-9a-f]{8}), cycles (\d+)"
)
_ARRAY = re.compile(r"array (\S+) ([0-9a-f]*)")
_CYCLES = re.compile(r"cycles (\d+)")


@dataclass(frozen=True)
class FirmwareEpoch:
    """An epoch of the firmware.

    Attributes:
        loss: mean loss of an image, before each update.
        right: images that are classified correctly after the epoch.
        checksum: hash of the parameters.
        cycles: cycles of all training steps.
    """

    loss: str
    right: int
    checksum: str
    cycles: int

    def images_s(self, clock_mhz: float) -> float:
        """Return the trained images a second at a clock of the system."""
        return EXAMPLES * clock_mhz * 1e6 / self.cycles


@dataclass(frozen=True)
class Trained:
    """A training in the simulated system.

    Attributes:
        epochs: the epochs.
        cycles: cycles from power-up to the end of the output.
        clock_mhz: clock of the system.
    """

    epochs: Sequence[FirmwareEpoch]
    cycles: int
    clock_mhz: float

    def json(self) -> dict[str, Any]:
        """Return the training for programs."""
        rows = [
            {**asdict(each), "images_s": round(each.images_s(self.clock_mhz))}
            for each in self.epochs
        ]
        return {"images": EXAMPLES, "clock_mhz": self.clock_mhz, "cycles": self.cycles,
                "epochs": rows}  # fmt: skip


def simulate(package: Path, examples: Examples, clock_mhz: float, progress: Progress) -> Trained:
    """Run the system of a package in Verilator until its firmware ends.

    Args:
        package: the folder of the package.
        examples: its training.
        clock_mhz: clock of the system.
        progress: called with each line of the firmware.

    Raises:
        BadInput: Verilator is not installed.
        CheckFailed: the training differs from the golden model, or it does not end.
        RuntimeError: a program rejects the system.
    """
    verilator = find_verilator()
    with scratch() as folder:
        progress.say("generating the LiteX system")
        generate(package, "simulation", folder)
        progress.say("compiling the simulation")
        program = _built(verilator, folder, package / FOLDER / HARNESS)
        lines = list(_output([str(program), str(MOST_CYCLES)], folder, progress))
    return compared(lines, examples, clock_mhz)


def _built(verilator: Verilator, folder: Path, harness: Path) -> Path:
    """Return the executable for a generated system, from the cache if it was built before."""
    names: list[str] = json.loads((folder / "sources.json").read_text(encoding="utf-8"))
    digest = hashlib.sha256()
    texts = [_COMMENT.sub("", (folder / name).read_text(encoding="utf-8")) for name in names]
    for text in (verilator.version, *FLAGS, *OPTIMISE, harness.read_text("utf-8"), *texts):
        digest.update(text.encode() + b"\0")

    def make(made: Path) -> None:
        work = made / "work"
        (work / "obj").mkdir(parents=True)
        shutil.copy(harness, work / HARNESS)
        sources = [str((folder / name).resolve()) for name in names]
        command = [str(verilator.compiler), *FLAGS, "--top-module", TOP, "--Mdir", "obj"]
        call([*command, *sources, HARNESS], verilator, work)
        compile_model(verilator, work, f"V{TOP}.mk", f"V{TOP}", OPTIMISE)
        (work / "obj" / f"V{TOP}").rename(made / EXECUTABLE)
        shutil.rmtree(work)

    return Entry("litex", digest.hexdigest()).kept(make) / EXECUTABLE


def _output(command: Sequence[str], folder: Path, progress: Progress) -> Iterator[str]:
    """Yield the lines of the firmware.

    Raises:
        CheckFailed: the firmware does not end.
    """
    with Children() as children, progress.spent.on("simulating"):
        process = children.start(command, cwd=folder, stdout=PIPE, stderr=PIPE, text=True)
        assert process.stdout is not None
        assert process.stderr is not None
        for line in process.stdout:
            if not line.startswith("array "):
                progress.say(line.rstrip())
            yield line.rstrip()
        if process.wait():
            raise CheckFailed(f"simulation: {process.stderr.read().strip()}")


def compared(lines: Sequence[str], examples: Examples, clock_mhz: float) -> Trained:
    """Compare the output of the firmware with the golden model: every epoch and every parameter.

    Raises:
        CheckFailed: they differ.
    """
    if failed := [line for line in lines if line.startswith("error: ")]:
        raise CheckFailed(f"firmware: {failed[0]}")
    found = [match for line in lines if (match := _EPOCH.fullmatch(line))]
    epochs = [FirmwareEpoch(each[2], int(each[3]), each[5], int(each[6])) for each in found]
    golden = list(examples.golden())
    for number, (epoch, wanted) in enumerate(zip(epochs, golden, strict=False), 1):
        loss = int(wanted.loss * 1_000_000 / EXAMPLES)
        expected = (f"{loss // 10**6}.{loss % 10**6:06}", wanted.right, f"{wanted.checksum:08x}")
        if (epoch.loss, epoch.right, epoch.checksum) != expected:
            raise CheckFailed(
                f"firmware: epoch {number}: loss {epoch.loss}, right {epoch.right}, checksum "
                f"{epoch.checksum}: the golden model has {expected[0]}, {expected[1]}, "
                f"{expected[2]}"
            )
    if len(epochs) != len(golden):
        raise CheckFailed(f"firmware: {len(epochs)} epochs: the golden model has {len(golden)}")
    arrays = {each[1]: _words(each[2]) for line in lines if (each := _ARRAY.fullmatch(line))}
    for wanted_array in golden[-1].parameters:
        words = arrays.get(wanted_array.name)
        if words is None or not np.array_equal(words, words_of(wanted_array)):
            raise CheckFailed(f"firmware: {wanted_array.name}: not the words of the golden model")
    cycles = next(int(each[1]) for line in lines if (each := _CYCLES.fullmatch(line)))
    return Trained(epochs, cycles, clock_mhz)


def _words(text: str) -> NDArray[np.uint16]:
    return np.array([int(text[at : at + 4], 16) for at in range(0, len(text), 4)], np.uint16)
