"""The first screen of each verb that prints tables: at most 25 lines on a terminal of 80 columns.

``PYTHONPATH=tests/house python tests/tools/test_first_screens.py`` records the screens again.
"""

import argparse
import re
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from pseudo_terminal import in_terminal

HERE = Path(__file__).resolve().parents[1] / "data" / "first_screens"
COLUMNS, LINES = 80, 25
SCREENS = {
    "traffic-alexnet": "traffic alexnet",
    "traffic-vgg19": "traffic vgg19",
    "traffic-bus-cifar10-4x": "traffic cifar10-4x --count bus",
    "networks": "networks",
    "networks-alexnet": "networks alexnet",
    "networks-vgg19": "networks vgg19",
    "plan-alexnet": "plan alexnet --board kc705",
    "plan-vgg19": "plan vgg19 --board kc705",
    "layout-tiny3": "layout tiny3",
    "layout-cifar10-4x": "layout cifar10-4x --images 128",
    "compare-alexnet": "compare alexnet",
    "compare-vgg19": "compare vgg19",
    "explore-alexnet": "explore alexnet --board kc705",
    "explore-vgg19": "explore vgg19 --board kc705",
    "report-alexnet": "report alexnet -o report.html",
    "report-vgg19": "report vgg19 -o report.html",
    "simulate-tiny3": "simulate tiny3",
    "simulate-tiny3-all": "simulate tiny3 --layer all --phase all",
    "train-digits": "train digits --data digits --steps 2",
}


def screen(command: str, folder: Path) -> str:
    """What a command prints on a terminal of 80 columns, without its seconds."""
    merp = Path(sys.executable).with_name("merp")
    text = in_terminal([merp, *command.split()], folder / "errors", COLUMNS)
    text = re.sub(r"[\d,.]+ s (?=for|of building)|\([\d,]+\scycles/s\)", "", text)
    return "".join(f"{line.rstrip()}\n" for line in text.rstrip().split("\n"))


@pytest.mark.sample(5)
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.full) if name.endswith("-vgg19") else name
        for name in SCREENS
    ],
)
def test_a_first_screen_is_as_recorded(name: str, tmp_path: Path) -> None:
    shown = screen(SCREENS[name], tmp_path)
    assert shown == (HERE / f"{name}.txt").read_text()


@pytest.mark.parametrize("name", SCREENS)
def test_a_first_screen_fits_25_lines_of_80_columns(name: str) -> None:
    lines = (HERE / f"{name}.txt").read_text().split("\n")[:-1]
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, allow_abbrev=False).parse_args()
    for each, words in SCREENS.items():
        with TemporaryDirectory() as place:
            (HERE / f"{each}.txt").write_text(screen(words, Path(place)))
