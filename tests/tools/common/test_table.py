"""Tables, in a pseudo-terminal: no line wider than it, no cell cut, every number there."""

import io
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from rich.text import Text

from checkout import ROOT
from marks import in_full
from merp.models.golden.initial import initial_numbers
from merp.tools.common.shipped import open_network
from merp.tools.common.table import console, table
from merp.tools.common.wide import tables_in_one_piece
from network_text import layer, network_text
from pseudo_terminal import in_terminal

WIDTHS, OTHER_WIDTHS = (60, 80), (120, 200)
"""Columns of terminals; ``make test-full`` looks at the other ones."""

Printed = Callable[[str, int], str]

NETWORK = network_text(
    "small",
    (6, 6, 1),
    layer("conv1", 3, kernel=3, design="k3"),
    layer("fc2", 2, design="full"),
    designs={"k3": {"k": 3, "n_cu": 2}, "full": {"k": 1, "n_cu": 2}},
)
RUN = {
    "network": "small", "engine": "golden", "steps": 12_345, "batch": 4, "seed": 7,
    "loss": [1.25, 0.5], "accuracy": 0.875, "images": {"trained": 8},
}  # fmt: skip
COMMANDS = {
    "networks": "networks",
    "layers": "networks alexnet",
    "bytes": "traffic alexnet",
    "traffic": "traffic alexnet --errata",
    "plan": "plan alexnet --board kc705",
    "passes": "plan alexnet --board kc705 --details",
    "arrays": "layout cifar10-4x --images 128 --momentum",
    "layers and designs": "networks alexnet --all",
    "boards": "boards",
    "figures of a board": "boards vc709",
    "map": "map digits --architecture cnn-merp",
    "side by side": "compare digits --architecture cnn-merp,fpdeep --details",
    "board": "traffic vgg16 --count board --state-bits 1",
    "strategies": "traffic alexnet --strategies",
    "compare": "traffic alexnet --compare vgg16",
    "registers": "registers alexnet --layer conv2 --phase ku",
    "resources": "resources alexnet --layer conv2",
    "calibrate": "calibrate {report} alexnet --layer conv2",
    "simulate": "simulate {network} --layer conv1 --details",
    "passes in hardware": "simulate {network} --layer all",
    "train": "train digits --data digits --steps 1",
    "predict": "predict digits --weights {folder}/digits.npz --input {folder}/x.npy",
    "evaluate": "evaluate digits --weights {folder}/digits.npz --data digits",
    "losses": "losses {folder}/run -o losses.svg",
    "verify-float": "verify-float --op mul --vectors {vectors}",
}
CHILD = """
import fcntl, io, json, os, struct, sys, termios
from contextlib import redirect_stdout
from merp.cosim.synthesis.resources import Block
from merp.models.fpga.resources import Resources
from merp.tools import cli
from merp.tools.fpga.bitstream.resources import calibrate_verb, resources_verb

each = Resources(logic=1234567, shift=139, memory=764, ff=14050, bram=16.5, dsp=72)
blocks = [Block(name=name, count=36, each=each, delay_ns=6.9)
          for name in ("forward_axi", "a_block_that_has_a_long_name")]
calibrate_verb.measured = resources_verb.measured = lambda *_: blocks
commands, widths = json.loads(sys.argv[1])
answers = []
for words in commands:
    with redirect_stdout(io.StringIO()) as printed:
        assert cli.main(words) < 2
    answers.append(printed.getvalue())
    for width in widths:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("4H", 30, width, 0, 0))
        cli.main(words)
        print(end="\\x1e", flush=True)
json.dump(answers, open(sys.argv[2], "w"))
"""


@pytest.fixture(scope="module")
def printed(tmp_path_factory: pytest.TempPathFactory) -> Printed:
    """The function returns the output of a command at a width, in columns; 0 is a file."""

    @cache
    def all_at(widths: tuple[int, ...]) -> dict[tuple[str, int], str]:
        return printed_at(tmp_path_factory.mktemp("printed"), widths)

    def at(name: str, width: int) -> str:
        return all_at(OTHER_WIDTHS if width in OTHER_WIDTHS else WIDTHS)[name, width]

    return at


def printed_at(folder: Path, widths: tuple[int, ...]) -> dict[tuple[str, int], str]:
    """Return the output of all commands at some widths and in a file."""
    (folder / "run").mkdir()
    (folder / "run" / "train.json").write_text(json.dumps(RUN))
    (folder / "small.toml").write_text(NETWORK)
    network = open_network("digits")
    pairs = {layer.name: initial_numbers(layer, 0) for layer in network.layers}
    arrays = {f"{name}.{key}": array for name, pair in pairs.items()
              for key, array in zip(("kernel", "bias"), pair, strict=True)}  # fmt: skip
    np.savez(folder / "digits.npz", **arrays)
    np.save(folder / "x.npy", np.ones((3, 8, 8)))
    (folder / "vectors").write_text("3F800000 40000000 40000001 00\n" * 3)
    places = {
        "folder": folder, "network": folder / "small.toml", "vectors": folder / "vectors",
        "report": ROOT / "tests" / "data" / "utilisation_synthetic.rpt",
    }  # fmt: skip
    commands = [[word.format(**places) for word in line.split()] for line in COMMANDS.values()]
    answers = folder / "answers.json"
    words = [sys.executable, "-c", CHILD, json.dumps([commands, widths]), str(answers)]
    text = in_terminal(words, folder / "errors")
    pieces = text.replace("\r\n", "\n").split("\x1e")[:-1]
    keys = [(name, width) for name in COMMANDS for width in widths]
    found = dict(zip(keys, pieces, strict=True))
    return found | {
        (name, 0): each
        for name, each in zip(COMMANDS, json.loads(answers.read_text()), strict=True)
    }


def numbers(text: str) -> Counter[str]:
    """Words with a digit in them; what took how long is left out."""
    text = re.sub(r"^(time |All ).*?(?=^\s*$|\Z)", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"\S* ?a\s+second", "", text)
    return Counter(word for word in re.findall(r"[\w.,+%-]+", text) if re.search(r"\d", word))


@pytest.mark.sample(12)
@pytest.mark.parametrize("width", [*WIDTHS, *in_full(*OTHER_WIDTHS)])
@pytest.mark.parametrize("name", COMMANDS)
def test_everything_fits_the_terminal_and_is_there(name: str, width: int, printed: Printed) -> None:
    whole, text = printed(name, 0), printed(name, width)
    assert whole
    assert "…" not in whole + text
    lines = text.splitlines()
    assert max(map(len, lines)) <= width
    assert numbers(whole) - numbers(text) == Counter()


def test_names_of_rows_stand_in_every_part(printed: Printed) -> None:
    text = printed("traffic", 80)
    rows = [line.split("│")[1:-1] for line in text.splitlines() if line.startswith("│ conv2 ")]
    assert len(rows) == 2
    assert [cell.strip() for row in rows for cell in row[1:]] == [
        "57.33", "57.34", "1.011", "1.01", "4.260", "4.25", "2.292", "2.29",
    ]  # fmt: skip
    heads = [line for line in text.splitlines() if line.startswith("┃ layer ")]
    assert [re.findall(r"Gop|FP|DP|KU", head) for head in heads] == [["Gop", "FP", "DP"], ["KU"]]


COLUMNS = ["name", *(f"number {i}" for i in range(30))]
ROWS = [["a", *(str(10**9 + i) for i in range(30))]]


def rendered(width: int, *, terminal: bool = True) -> str:
    screen = Console(file=io.StringIO(), width=width, force_terminal=terminal, no_color=True)
    screen.print(table("title", COLUMNS, ROWS, caption="below"), crop=False)
    assert isinstance(screen.file, io.StringIO)
    return re.sub(r"\x1b\[[0-9;]*m", "", screen.file.getvalue())


def test_wide_is_one_piece() -> None:
    with tables_in_one_piece(True):
        text = rendered(60)
    (row,) = [line for line in text.splitlines() if line.startswith("│ a ")]
    assert [cell.strip() for cell in row.split("│")[1:-1]] == ROWS[0]
    assert rendered(160, terminal=False) == text


@pytest.mark.parametrize("width", [5, 60, 120])
def test_no_number_is_lost_or_cut_even_on_a_terminal_narrower_than_it(width: int) -> None:
    text = rendered(width)
    assert all(cell in text for cell in ROWS[0])
    assert text.count("title") == text.count("below") == 1


def test_columns_that_belong_together_stay_so_where_they_fit() -> None:
    heads = ["name", "one", "its share", "two", "its share"]
    rows = [["x", "1" * 9, "2" * 9, "3" * 9, "4" * 9]]
    screen = Console(file=io.StringIO(), width=50, force_terminal=True, no_color=True)
    screen.print(table("", heads, rows, bundles=(2, 2)))
    assert isinstance(screen.file, io.StringIO)
    text = screen.file.getvalue()
    (first, second) = [line for line in text.splitlines() if "│ x " in line]
    assert ("1" * 9 in first, "3" * 9 in first, "4" * 9 in second) == (True, False, True)
    with pytest.raises(ValueError, match="bundles of 3 columns, not 4"):
        table("", heads, rows, bundles=(2, 1))


@pytest.mark.parametrize("environment", [{"COLUMNS": "40"}, {"FORCE_COLOR": "1"}])
def test_a_file_is_the_same_whatever_the_terminal(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = []
    for each in ({}, environment):
        for key, value in each.items():
            monkeypatch.setenv(key, value)
        file = io.StringIO()
        console(file).print(table("title", COLUMNS, ROWS, caption="below"))
        monkeypatch.setattr("sys.stdout", standard := io.StringIO())
        console().print(table("title", COLUMNS, ROWS, caption="below"))
        monkeypatch.undo()
        assert standard.getvalue() == file.getvalue()
        written.append(file.getvalue())
    assert written[0] == written[1]
    assert ROWS[0][-1] in written[0]


def test_a_table_of_many_rows_is_laid_out_a_column_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    wrapped: list[str] = []
    wrap = Text.wrap

    def counting(text: Text, *args: Any, **kwargs: Any) -> Any:
        wrapped.append(text.plain)
        return wrap(text, *args, **kwargs)

    monkeypatch.setattr(Text, "wrap", counting)
    counts, printed = [], []
    for rows in (20, 200):
        wrapped.clear()
        cells = [(f"row {i}", str(i), "-" * (i % 7)) for i in range(rows)]
        console().print(table("Many", ("name", "number", "more"), cells, totals=2))
        counts.append(len(wrapped))
        printed.append(capsys.readouterr().out.splitlines())
    assert counts[0] == counts[1]
    assert len(printed[1]) == len(printed[0]) + 180
    assert {len(line) for line in printed[1][1:]} == {len(printed[1][1])}
    assert printed[1][4] == "│ row 0   │      0 │        │"
    assert printed[1][-4].startswith("├")
