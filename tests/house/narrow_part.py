"""A board with a share of the LUTs of the usual part."""

from pathlib import Path

from small_memory import BOARD

LUTS = 203_800
"""LUTs of the part."""


def narrow(folder: Path, share: float) -> Path:
    """Write the file of a board of which a design may use a share of the LUTs."""
    path = folder / f"narrow{share}.toml"
    head, tail = BOARD.replace("mine", "narrow").split("[memory]")
    path.write_text(f"{head}usable = {{ lut = {share} }}\n[memory]{tail}")
    return path
