"""Every command line that a page or a help text shows runs up to the start of its work."""

import contextlib
import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from named_options import strange_options
from PIL import Image
from shown_lines import Shown, shown_lines

from marks import in_full
from merp.models.golden.initial import initial_numbers
from merp.tools.cli import main
from merp.tools.common.command_line.parser import command_line, module_of
from merp.tools.common.command_line.verbs import VERBS
from merp.tools.common.data import DATA
from merp.tools.common.output import Output
from merp.tools.common.progress_bar import ProgressBar
from merp.tools.common.shipped import open_network
from page_lines import ONNX, made_model

LINES = list(shown_lines())

NOT_RUN = {
    "merp --help": "it is no verb",
    "merp --version": "it is no verb",
    "merp VERB --help": "it prints and ends",
    "merp map ... --json": "the dots stand for other words",
    "merp sweep NETWORK --architecture fpdeep --vary ...": "the dots stand for other words",
    "merp report alexnet [--measured DIR]": "it reads a record; test_pages makes one",
    "merp losses A B -o losses.svg": "it reads runs; test_pages makes them",
    "merp losses run": "it reads a run; test_losses makes one",
    "merp losses run other -o losses.png": "it reads runs; test_losses makes them",
    "merp losses tree fused 'fused, p = 28'": "it reads runs; test_losses makes them",
    "merp losses bfloat16,* -o losses-bf16.svg": "it reads runs, and the shell fills the name in",
    "merp losses DIR [DIR ...] [-o FILE.svg|FILE.png] [--json]": "it reads runs; test_losses",
    "merp report mine.toml --batch 64 --measured run-fp --measured run-ku -o mine.html":
        "it reads records; test_pages runs the tutorial",
    "merp report --board B --batch N --measured DIR": "it names no network",
    "merp calibrate utilization.rpt alexnet --layer conv2 --phase fp": "it reads Vivado's report",
    "merp calibrate utilization.rpt alexnet --layer conv2": "it reads Vivado's report",
    "merp calibrate utilization.rpt alexnet --layer conv2 --phase ku --json": "the same",
    "merp export-weights trained.npz model.onnx -o trained.onnx": "test_pages trains it first",
    "merp export-weights trained.npz model.onnx -o new.onnx": "test_pages trains it first",
    "merp export-weights mine.npz model.onnx -o new.onnx --json": "test_pages trains it first",
    "merp export-weights FILE.npz MODEL.onnx -o NEW.onnx": "test_pages trains it first",
    "merp predict NETWORK [--weights F.npz] --input FILE [--engine "
    "golden|myhdl|verilator|ghdl|system] [--top N]": "without weights it takes a model only",
    "merp evaluate NETWORK [--weights F.npz] --data digits|FILE|DIR [--held-out] [--engine "
    "golden|myhdl|verilator|ghdl|system]": "without weights it takes a model only",
    "merp sweep alexnet --over n_cu=8:48:8 --dask tcp://127.0.0.1:8786": "it needs a scheduler",
    "mpirun -n 4 merp train tiny3 --data three.npz --architecture chain --devices 3 --engine "
    "verilator --batch 2 --steps 1 --mpi": "it needs mpirun; test_processes runs it",
    "merp compare cifar10-1x --architecture cnn-merp,rtl-compiler --board vc709 --word 16 "
    "--scope all -o both.html \\": "its next line names records",
}  # fmt: skip
"""Lines that this does not run, and why."""

STARTS = {
    "plan": ("planned",),
    "compare": ("compare",),
    "map": ("named",),
    "explore": ("_front",),
    "resources": ("measured", "routed"),
    "traffic": ("traffic_of", "print_strategies", "_on_bus"),
}
"""Functions of a verb that begin its work, where no bar or output shows its start."""


class Begun(BaseException):
    """The work has begun: all that was asked for is taken."""


def whole(words: list[str]) -> bool:
    """Whether the parser takes a line."""
    if not words or words[0] not in VERBS:
        return False
    with contextlib.suppress(SystemExit):
        command_line({words[0]}).parse_args(words)
        return True
    return False


RUN = [each for each in LINES if each.line not in NOT_RUN]
WHOLE = [each for each in RUN if each.block or any(map(whole, each.words))]


def test_lines_that_are_not_run_are_shown() -> None:
    assert sorted(NOT_RUN.keys() - {each.line for each in LINES}) == []
    assert len(WHOLE) > 100


@pytest.mark.parametrize("shown", [each for each in RUN if each not in WHOLE], ids=lambda s: s.line)
def test_a_mention_names_options_of_its_verb(shown: Shown) -> None:
    verb = shown.line.split()[1]
    assert verb in VERBS
    assert strange_options(re.sub(r"[\[\]|]", " ", shown.line)) == []


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    def begun(*_: object, **__: object) -> Any:
        raise Begun

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(ProgressBar, "__enter__", begun)
    monkeypatch.setattr(Output, "__enter__", begun)
    for verb, functions in STARTS.items():
        for name in functions:
            monkeypatch.setattr(module_of(verb), name, begun)
    return tmp_path


def prepare(words: list[str], folder: Path) -> None:
    """Make the files that a line reads, each of the kind that it must be."""
    after = dict(pairwise(words))
    if "--vectors" in after:
        (folder / after["--vectors"]).touch()
    written = {after[option] for option in ("-o", "--save") if option in after}
    for word in words[1:]:
        path = folder / word
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() or word in written:
            continue
        if path.suffix == ".toml" and word == after.get("--board"):
            shutil.copy(DATA / "boards" / "kc705.toml", path)
        elif path.suffix == ".toml":
            base = "tiny3" if "pipeline" in words else "digits"
            fused = 'layer_fusion = ["conv1", "conv2"]\n' if word == "fused.toml" else ""
            path.write_text(f'base = "{base}"\n[network]\nname = "mine"\n{fused}')
        elif path.suffix == ".onnx":
            exec(made_model(ONNX), {"__name__": "model"})  # it writes model.onnx
        elif path.suffix == ".npz" and word == after.get("--data"):
            network = open_network(words[1])
            outputs = network.layers[-1].outputs
            np.savez(path, images=np.zeros((20, *network.input)), labels=np.arange(20) % outputs)
        elif word == after.get("--labels"):
            path.write_text("\n".join(map(str, range(open_network(words[1]).layers[-1].outputs))))
        elif word == after.get("--input") and path.suffix == ".npz":
            np.savez(path, input=np.zeros((1, *open_network(words[1]).input)))
        elif word == after.get("--input"):
            Image.new("L", (9, 9)).save(path, "PNG")
        elif path.suffix == ".npz" and words[0] in ("predict", "evaluate"):
            layers = open_network(words[1]).layers
            pairs = {each.name: initial_numbers(each, 0) for each in layers}
            arrays = {
                f"{name}.{key}": array
                for name, pair in pairs.items()
                for key, array in zip(("kernel", "bias"), pair, strict=True)
            }
            np.savez(path, **arrays)
        elif path.suffix == ".npz":
            np.savez(path)  # parameters of no layer


LONG = (
    "merp simulate alexnet --layer conv1+conv2 --images 2 --engine verilator",
    "merp train alexnet --data mine.npz --board kc705 --batch 2 --steps 1",
)


@pytest.mark.parametrize(
    "shown",
    [
        *(each for each in WHOLE if each.line not in LONG),
        *in_full(*(each for each in WHOLE if each.line in LONG)),
    ],
    ids=lambda shown: shown.line,
)
def test_a_line_runs_up_to_its_work(
    shown: Shown, scratch: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in shown.words:
        prepare(words, scratch)
        try:
            status = main(words)
        except Begun:
            continue
        assert status == 0, capsys.readouterr().err
