"""MyHDL is answered as it would answer itself, from sources that are read once."""

import ast
import importlib.util
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from myhdl import Signal, always_comb, block

from merp.hdl.conversion import quick_elaboration
from merp.hdl.conversion.base import internals
from merp.hdl.conversion.convert import convert
from merp.hdl.conversion.entity import Bit, entity

TEXT = """
def outer(wide):
    if wide:
        def process():
            # Of the one branch.
            out.next = {value}
    else:
        def process():
            pass
    return process
"""


def module_of(path: Path, text: str) -> Any:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def same(function: Callable[..., Any]) -> bool:
    """Whether the tree is MyHDL's, with the place that it remembers; columns do not count."""
    ours, own = quick_elaboration.tree_of(function), internals.own_tree(function)
    places = [(tree.sourcefile, tree.lineoffset) for tree in (ours, own)]
    texts = [ast.dump(tree) for tree in (ours, own)]
    lines = [[getattr(node, "lineno", 0) for node in ast.walk(tree)] for tree in (ours, own)]
    return places[0] == places[1] and texts[0] == texts[1] and lines[0] == lines[1]


@pytest.mark.parametrize("future", ["", "from __future__ import annotations\n"])
def test_a_tree_is_that_of_myhdl(future: str, tmp_path: Path) -> None:
    module = module_of(tmp_path / "some.py", future + TEXT.format(value=1))
    for wide in (True, False):
        for _ in range(2):  # read, and kept
            assert same(module.outer(wide))


STRINGS = """
class Some:
    @staticmethod
    @marked
    def process():
        text = '''
    not a statement
        '''
        other = "continued \\
        here"
        return text, other
        # behind the last statement

    process_of_one_line = lambda: 1
"""


@pytest.mark.parametrize("name", ["process", "process_of_one_line"])
def test_a_function_with_decorators_and_long_strings_is_found(name: str, tmp_path: Path) -> None:
    module = module_of(tmp_path / "some.py", "def marked(f): return f\n" + STRINGS)
    assert same(getattr(module.Some, name))


def test_a_function_of_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "some.py"
    for value in (1, 22, 333):
        assert same(module_of(path, TEXT.format(value=value)).outer(True))


def test_a_block_knows_its_line() -> None:
    assert inverter.srcline == inspect.getsourcelines(inverter.func)[1]


def test_two_files_with_the_same_code_keep_their_places(tmp_path: Path) -> None:
    one, two = (
        module_of(tmp_path / f"{name}.py", TEXT.format(value=1) + f"# {name}\n") for name in "ab"
    )
    assert one.outer(True).__code__ == two.outer(True).__code__
    assert same(one.outer(True))
    assert same(two.outer(True))


def test_who_changes_a_tree_changes_no_other(tmp_path: Path) -> None:
    """MyHDL writes into the trees that it analyses."""
    process = module_of(tmp_path / "some.py", TEXT.format(value=1)).outer(True)
    quick_elaboration.tree_of(process).body.clear()
    assert same(process)


def test_the_stack_is_that_of_inspect() -> None:
    def asked() -> tuple[list[Any], list[Any]]:
        return quick_elaboration._Inspect.stack(), inspect.stack()

    quick, plain = asked()
    assert len(quick) == quick_elaboration.DEEPEST
    for ours, own in zip(quick[1:], plain[1:], strict=False):
        assert (ours[0].frame, *ours[1:]) == (own.frame, own.filename, own.lineno, own.function)


@entity
def inverter(a: Bit, y: Bit) -> Any:
    """Inverts.

    a  in  bit
    y  out bit
    """

    @always_comb
    def invert() -> None:
        y.next = not a

    return invert


@entity
def two(a: Bit, y: Bit) -> Any:
    """Inverts twice, by instances of a list.

    a  in  bit
    y  out bit
    """
    between = Signal(False)
    pins = [(a, between), (between, y)]
    return [inverter(a=source, y=target) for source, target in pins]


class Pair:
    def __init__(self) -> None:
        self.one, self.other = Signal(False), Signal(False)


@pytest.mark.parametrize("resolver", [quick_elaboration._Resolver, internals.AttributeResolver])
def test_attributes_are_resolved_where_there_are_any(resolver: type) -> None:
    pair, plain = Pair(), Signal(False)

    @block
    def of_both() -> Any:
        @always_comb
        def bundled() -> None:
            pair.one.next = not pair.other

        @always_comb
        def single() -> None:
            plain.next = not plain.val

        return bundled, single

    internals.resolve_with(resolver)
    try:
        bundled, single = of_both().subs
    finally:
        quick_elaboration.install()
    assert (bundled.inputs, bundled.outputs) == ({"pair_other"}, {"pair_one"})
    assert bundled.objlist == ["pair_one", "pair_other"]
    assert bundled.symdict["pair_one"] is pair.one
    assert (single.outputs, single.objlist) == ({"plain"}, [])


def test_a_design_converts_to_the_same_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ports = {"a": Signal(False), "y": Signal(False)}

    def texts(folder: str) -> dict[str, str]:
        convert(two, ports, "vhdl", tmp_path / folder)
        return {path.name: path.read_text() for path in (tmp_path / folder).iterdir()}

    quick = texts("quick")
    internals.inspect_with(inspect)
    internals.parse_with(internals.own_tree)
    internals.resolve_with(internals.AttributeResolver)
    monkeypatch.setattr(quick_elaboration, "DEEPEST", 0)  # nobody asks
    try:
        assert texts("plain") == quick
    finally:
        quick_elaboration.install()
