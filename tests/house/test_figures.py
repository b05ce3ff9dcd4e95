"""A figure counts what its name says."""

import ast
from pathlib import Path

import pytest
from figures import Source, names_machine


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("from merp.hdl.cnn_merp.chain.node import node", True),
        ("from merp.models.machines.cnn_merp import chain", True),
        ("import merp.models.machines.cnn_merp.chain.split", True),
        ('architecture = "chain"', True),
        ("def run(chain):\n    return chain", True),
        ("found = design.chain", True),
        ("from itertools import chain\n\nfound = chain([])", False),
        ("from merp.hdl.conversion.process.printer import chain\n\nfound = chain(each)", False),
        ("for chain in chains:\n    found = chain", False),
        ('"""A chain of ifs."""', False),
    ],
)
def test_a_machine_is_named_by_its_rooms_and_by_its_word(text: str, named: bool) -> None:
    assert names_machine(Source(Path("tools/a/b.py"), text, ast.parse(text)), "chain") == named
