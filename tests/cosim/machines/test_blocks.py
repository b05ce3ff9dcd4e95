"""Blocks that are synthesised and routed apart are blocks of the hardware, by their names."""

import ast

import pytest

from checkout import ROOT
from merp.cosim.machines.blocks import SHARED, all_blocks
from merp.cosim.machines.loader import having


@pytest.fixture(scope="module")
def functions() -> set[str]:
    """Functions of the hardware that a decorator makes blocks or entities."""
    return {
        node.name
        for path in (ROOT / "hdl").rglob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef) and node.decorator_list
    }


@pytest.mark.parametrize("kind", ["apart", "routed"])
def test_every_name_is_a_block_of_the_hardware(kind: str, functions: set[str]) -> None:
    assert getattr(all_blocks(), kind) - functions == set()


@pytest.mark.parametrize("kind", ["apart", "routed"])
def test_no_block_is_listed_twice(kind: str) -> None:
    lists = [getattr(each, kind) for each in (SHARED, *having("blocks").values())]
    assert len(frozenset().union(*lists)) == sum(map(len, lists)) > 0
