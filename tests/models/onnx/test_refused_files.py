"""Files that are no model, and data outside of them: one line each."""

import builtins
import os
from pathlib import Path
from typing import Any

import pytest

import onnx_models as made
from merp.models.base.errors import BadInput
from merp.models.onnx.import_model import import_model
from needed_tools import needs
from spoilt_models import external
from terminal import Terminal

pytestmark = needs("onnx")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no nodes"),
        (b"not a model at all", "cannot be read: allowed is an ONNX model"),
        (b"\x08\x08\x3a\xff\xff\xff\xff\x0f", "cannot be read: allowed is an ONNX model"),
    ],
)
def test_bytes_that_are_no_model(
    content: bytes, message: str, tmp_path: Path, terminal: Terminal
) -> None:
    path = tmp_path / "net.onnx"
    path.write_bytes(content)
    told = terminal.refusal("plan", path, "--board", "kc705")
    assert message in told


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = made.saved(tmp_path, made.three_layers())
    path.write_bytes(path.read_bytes().replace(b"/conv2/Conv", b"\xff\xfe\x80nv2/Conv"))
    with pytest.raises(BadInput, match=r"^net\.onnx: a name is not UTF-8 text$"):
        import_model(path)


def test_a_file_of_two_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "net.onnx"
    with path.open("wb") as file:
        file.truncate(1 << 31)  # it takes no place on the disk
    with pytest.raises(BadInput, match=r"2,147,483,648 bytes: allowed are at most 2,147,483,647"):
        import_model(path)


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe"])
def test_what_is_no_file(kind: str, tmp_path: Path, impatient: None) -> None:
    path = tmp_path / "net.onnx"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    with pytest.raises(BadInput, match=r"net\.onnx: cannot be read: "):
        import_model(path)


def test_external_data_behind_a_link_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(bytes(216))
    (folder / "data").symlink_to(tmp_path / "secret")
    path = made.saved(folder, external(location="data"))
    with pytest.raises(BadInput, match="allowed is a file in the folder of the model"):
        import_model(path)


def test_without_onnx_a_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: Terminal
) -> None:
    path = made.saved(tmp_path, made.three_layers())
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "onnx":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    assert (
        terminal.refusal("traffic", path) == f"merp: {path}: needs onnx: pip install 'merp[onnx]'"
    )
