"""The pictures of block designs are those of the scripts."""

import pytest

import block_designs
from needed_tools import needs


@needs("tclsh")
@pytest.mark.parametrize("name", block_designs.PICTURES)
def test_every_picture_is_as_the_script_writes_it(name: str) -> None:
    now = block_designs.drawn(name) == (block_designs.FOLDER / f"{name}.svg").read_text()
    assert now, f"{name}: run python docs/block_designs.py"
