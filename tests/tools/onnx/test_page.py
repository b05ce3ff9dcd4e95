"""The page on models, line by line; tests/examples/test_pages.py runs it from a wheel."""

import shlex
from pathlib import Path

import pytest
from PIL import Image

from merp.tools.cli import main
from needed_tools import needs
from page_lines import ONNX, blocks, commands, made_model


@needs("onnx", "scikit-learn")
def test_the_sequence_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    exec(made_model(ONNX), {})  # writes model.onnx, as the page says
    (board,) = (block.text for block in blocks(ONNX) if block.kind == "file")
    Path("mine.toml").write_text(board)
    Image.new("L", (9, 9), 128).save("picture.png")
    ran = 0
    for command in commands(ONNX):
        program, *words = shlex.split(command.line)
        if program == "merp":
            assert main(words) == 0, command.line
            assert capsys.readouterr().out
            ran += 1
    assert ran == 9
    made = {"trained.npz", "trained.onnx", "model.toml", "model.npz", "mine-model.toml"}
    assert made <= {path.name for path in tmp_path.iterdir()}
