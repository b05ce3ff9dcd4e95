"""What the pages show is run as it is written, by an installed wheel, outside the repository.

The environment has what ``pip install`` of the wheel brings; where a page says to install more for
a line, that is installed first, by the line that the page has. No word of a line is changed but
those of ``page_lines.NAMES``; files that a line speaks of are made by ``PREPARED``.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from clean_copy import clean_copy
from needed_tools import needs
from page_lines import (
    COCOTB,
    LIBRARY,
    NOT_RUN,
    ONNX,
    OWN_BLOCK,
    OWN_NETWORK,
    PLAN,
    README,
    TUTORIAL,
    VERB_LIST,
    Command,
    blocks,
    commands,
    made_model,
)

pytestmark = pytest.mark.full

OWN = 'base = "alexnet"\n[network]\nname = "mine"\n'
TESTFLOAT = "3F800000 3F800000 40000000 00\n40400000 BF800000 40000000 00\n"
MODEL = f"python3 - <<'END'\n{made_model(ONNX)}END"
SAVED = "pip install 'merp[train]'\nmerp train digits --data digits --steps 2 --save digits.npz"
PREPARED = {
    "merp traffic alexnet --compare mine.toml": f"cat > mine.toml <<'END'\n{OWN}END",
    "merp report alexnet [--measured DIR]": (
        "pip install 'merp[hdl]'\nmerp simulate alexnet --layer conv5 --engine verilator -o DIR"
    ),
    "merp losses A B -o losses.svg": (
        "pip install 'merp[train]'\n"
        "merp train digits --data digits --steps 2 -o A\n"
        "merp train digits --data digits --steps 2 --seed 1 -o B"
    ),
    "merp predict digits --weights digits.npz --input images.npz": (
        f"{SAVED}\npython3 -c 'import numpy; numpy.savez(\"images.npz\", images=numpy.eye(8))'"
    ),
    "merp evaluate digits --weights digits.npz --data digits": SAVED,
    "merp import model.onnx -o model.toml --weights model.npz": MODEL,
    "merp export-weights trained.npz model.onnx -o trained.onnx": (
        f"{MODEL}\npip install 'merp[train]'\n"
        "merp train model.onnx --data digits --steps 2 --save trained.npz"
    ),
    "merp verify-float --op add --vectors F": f"cat > F <<'END'\n{TESTFLOAT}END",
}
"""Networks, records, runs and vectors that a listed command needs."""


@dataclass(frozen=True)
class Fresh:
    """An environment with the wheel in it, and a clean copy of the repository."""

    environment: dict[str, str]
    copy: Path

    def run(self, script: str, folder: Path) -> str:
        """Run a script line by line in ``folder``; what it printed. Each line must succeed."""
        done = subprocess.run(
            ["bash", "-ex"], input=script, cwd=folder, env=self.environment,
            capture_output=True, text=True, timeout=7200, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
        return done.stdout


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Fresh:
    folder = tmp_path_factory.mktemp("fresh")
    copy, wheels, room = clean_copy(folder / "copy"), folder / "wheels", folder / "env"
    wheel = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(wheels)]
    subprocess.run([*wheel, str(copy)], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(room)], check=True)
    kept = {
        key: os.environ[key]
        for key in os.environ
        if not key.startswith(("PYTHON", "VIRTUAL", "NUMBA"))
    }
    made = Fresh(
        kept | {"PATH": f"{room / 'bin'}:{os.environ['PATH']}", "PIP_FIND_LINKS": str(wheels)},
        copy,
    )
    (installed,) = wheels.glob("*.whl")
    made.run(f"pip install --quiet {installed}", folder)
    where = made.run("python -c 'import merp.tools; print(merp.tools.__file__)'", folder)
    assert Path(where.strip()).is_relative_to(room)
    return made


def found(command: Command) -> str:
    """A listed command, all its variants, after the commands that prepare it."""
    return "\n".join([*command.installs, PREPARED.get(command.line, ""), *command.variants])


@needs("verilator")
@pytest.mark.parametrize(
    "command",
    [
        pytest.param(command, marks=pytest.mark.board) if "--route" in command.line else command
        for command in (*commands(README), *commands(VERB_LIST))
        if command.line not in NOT_RUN
    ],
    ids=lambda command: command.line,
)
def test_a_listed_command(command: Command, fresh: Fresh, tmp_path: Path) -> None:
    in_copy = command.line.startswith("make ")
    fresh.run(found(command), fresh.copy if in_copy else tmp_path)


@pytest.mark.parametrize("page", [README, LIBRARY], ids=lambda page: page.stem)
def test_the_python_of_a_page(page: Path, fresh: Fresh, tmp_path: Path) -> None:
    shutil.copy(page, tmp_path)
    fresh.run(f"python -m doctest {page.name}", tmp_path)


def test_the_tutorial(fresh: Fresh, tmp_path: Path) -> None:
    script = [f"cd {fresh.copy}"]
    for block in blocks(TUTORIAL):
        if block.kind == "file":
            script.append(f"cat > mine.toml <<'END'\n{block.text}END")
            continue
        inside = [command.in_checkout for command in block.commands]
        script += [command.line for command in block.commands]
        if all(inside):
            script.append(f"cd {tmp_path}")
    fresh.run("\n".join(script), tmp_path)
    made = {path.name for path in tmp_path.iterdir()}
    assert made >= {"mine.html", "mine.json", "mine-tables", "scalesim", "zigzag", "timeloop"}


def test_own_networks(fresh: Fresh, tmp_path: Path) -> None:
    shown = {kind: [block.text for block in blocks(OWN_NETWORK) if block.kind == kind]
             for kind in ("file", "answer")}  # fmt: skip
    for text in shown["file"]:
        (tmp_path / "mine.toml").write_text(text)
        fresh.run("merp networks mine.toml\nmerp traffic mine.toml", tmp_path)
    for command in commands(OWN_NETWORK):
        fresh.run(command.line, tmp_path)
    (answer,) = shown["answer"]
    wrong = shown["file"][0].replace("stride = 1 ", "strid = 1 ")
    (tmp_path / "mine.toml").write_text(wrong)
    told = fresh.run("merp networks mine.toml 2>&1 || echo status $?", tmp_path)
    assert told == f"{answer}status 2\n"


def test_a_plan_on_a_board(fresh: Fresh, tmp_path: Path) -> None:
    (board,) = (block.text for block in blocks(PLAN) if block.kind == "file")
    (tmp_path / "mine.toml").write_text(board)
    for command in commands(PLAN):
        fresh.run("\n".join([*command.installs, *command.variants]), tmp_path)


def test_a_model_and_a_board(fresh: Fresh, tmp_path: Path) -> None:
    (board,) = (block.text for block in blocks(ONNX) if block.kind == "file")
    (tmp_path / "mine.toml").write_text(board)
    install, *lines = commands(ONNX)
    script = [install.line, MODEL]
    script += [line for command in lines for line in (*command.installs, command.line)]
    fresh.run("\n".join(script), tmp_path)
    assert (tmp_path / "trained.onnx").exists()


@needs("ghdl", "verilator")
def test_a_block_of_ones_own(fresh: Fresh) -> None:
    fresh.run("\n".join(command.line for command in commands(OWN_BLOCK)), fresh.copy)


@needs("ghdl", "verilator")
def test_a_layer_under_cocotb(fresh: Fresh) -> None:
    install, ready, *own = (command.line for command in commands(COCOTB))
    example = fresh.copy / "examples" / "layer"
    fresh.run("\n".join([install, *own]), example)
    for package in ("vhdl", "verilog"):
        fresh.run(ready, example / package / "mine-k3-fp")


def test_the_notebooks(fresh: Fresh) -> None:
    fresh.run("\n".join(command.line for command in commands(LIBRARY)), fresh.copy)
