"""JSON files that a verb left and somebody may have changed."""

import json
import os
from pathlib import Path

import pytest

from merp.models.base.errors import BadInput
from merp.tools.cli import main
from merp.tools.common.json_file import read_json


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', "1e999", "-1e400"])
def test_a_number_that_is_not_finite_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(BadInput, match=r"not JSON: '.*': allowed are finite numbers"):
        read_json(tmp_path / "x.json")


def test_what_is_finite_is_read(tmp_path: Path) -> None:
    value = {"a": [1, -2.5, 1e300, None, True, "NaN"], "b": 10**400}
    (tmp_path / "x.json").write_text(json.dumps(value))
    assert read_json(tmp_path / "x.json") == value


@pytest.mark.usefixtures("impatient")
def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "train.json")
    with pytest.raises(BadInput, match=r"train\.json: cannot be read: no regular file"):
        read_json(tmp_path / "train.json")


@pytest.mark.parametrize("name", ["train.json", "simulate.json"])
@pytest.mark.parametrize("text", ["1" * 5000, "[" * 100_000, "\x00", '"\ud800"', "[NaN]"])
def test_nonsense_in_a_folder_of_results_is_one_line(
    name: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(text.encode("utf-8", "surrogatepass"))
    words = {"train.json": ["losses"], "simulate.json": ["report", "digits", "--measured"]}[name]
    made = {"train.json": "x.svg", "simulate.json": "x.html"}[name]
    assert main([*words, str(tmp_path), "-o", str(tmp_path / made)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
