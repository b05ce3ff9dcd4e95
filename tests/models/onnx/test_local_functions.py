"""Models that define functions: what becomes of them, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import onnx_models as made
from merp.models.base.errors import BadInput
from merp.models.onnx.import_model import import_model
from needed_tools import needs
from onnx_runtime import check_against_runtime

pytestmark = needs("onnx")

OWN = "own"


def called(name: str, inputs: str, output: str) -> Any:
    return made.node(name, inputs, output, name.lower(), domain=OWN)


def with_functions(functions: dict[str, list[Any]], nodes: list[Any] | None = None) -> Any:
    """A model whose functions take x and w, and give y."""
    from onnx import helper

    model = made.model(nodes or [called("Block", "x w", "y")], {"w": made.numbers(2, 1, 3, 3)})
    own, usual = helper.make_opsetid(OWN, 1), helper.make_opsetid("", made.OPSET)
    model.opset_import.append(own)
    for name, body in functions.items():
        model.functions.append(
            helper.make_function(OWN, name, ["x", "w"], ["y"], body, [usual, own])
        )
    return model


def block() -> list[Any]:
    return [made.node("Conv", "x w", "a", "/conv"), made.node("Relu", "a", "y", "/relu")]


@needs("onnxruntime")
def test_functions_become_their_nodes(tmp_path: Path) -> None:
    """Also of functions that call others; a layer gets ReLU from its function."""
    nested = {"Inner": block(), "Block": [called("Inner", "x w", "y")]}
    path = made.saved(tmp_path, with_functions(nested))
    imported = import_model(path)
    (layer,) = imported.network.layers
    assert layer.shape.relu
    assert not imported.model.functions
    check_against_runtime(imported, path, 0)


def doubled(times: int) -> Any:
    """Functions that call the one before twice: 2 ** times nodes."""
    twice = {"F0": [made.node("Relu", "x", "y")]}
    for each in range(times):
        name = f"F{each}"
        twice[f"F{each + 1}"] = [called(name, "x w", "a"), called(name, "a w", "y")]
    return with_functions(twice, [called(f"F{times}", "x w", "y")])


def nested(times: int) -> Any:
    deep = {"F0": [made.node("Relu", "x", "y")]}
    deep |= {f"F{each + 1}": [called(f"F{each}", "x w", "y")] for each in range(times)}
    return with_functions(deep, [called(f"F{times}", "x w", "y")])


REFUSED: dict[str, tuple[Callable[[], Any], str]] = {
    "a circle": (
        lambda: with_functions(
            {"Block": [called("Other", "x w", "y")], "Other": [called("Block", "x w", "y")]}
        ),
        "net.onnx: function Block calls itself: must be no circle",
    ),
    "many nodes": (
        lambda: doubled(40),
        "net.onnx: 1,099,511,627,776 nodes with its functions: allowed are at most 16,384",
    ),
    "many levels": (lambda: nested(80), "net.onnx: functions in 64 functions: at most 64"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_functions_without_an_end_are_refused_at_once(case: str, tmp_path: Path) -> None:
    make, message = REFUSED[case]
    with pytest.raises(BadInput) as refused:
        import_model(made.saved(tmp_path, make()))
    assert str(refused.value).startswith(message)
