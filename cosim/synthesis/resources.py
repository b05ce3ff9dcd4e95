"""Resources of an engine, summed over its blocks. Each distinct block is synthesised once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from merp.cosim.engines.programs.beside import beside, cores
from merp.cosim.engines.programs.scratch import scratch
from merp.cosim.machines.blocks import all_blocks
from merp.cosim.synthesis.synthesis import is_kept, synthesise
from merp.hdl.conversion.convert import Export, convert
from merp.models.fpga.cell_timing import Timing, cell_timing
from merp.models.fpga.logic_delay import block_timing
from merp.models.fpga.resources import Resources, count_cells
from merp.testbenches.top.top import Top

Progress = Callable[[int, int, str], None]

_SECONDS = 9
"""CPU seconds for the smallest block: Yosys starts. measured: the MAC array of 1X"""

_CHARACTERS = 14_000
"""Characters of Verilog per additional second.

A block with many multipliers takes three times as long.
"""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A block of the design.

    Attributes:
        name: name of its entity.
        count: number of instances in the whole design.
        each: resources of one instance, without the blocks inside.
        delay_ns: estimated longest path between registers, in the block or in blocks inside.
    """

    name: str
    count: int
    each: Resources
    delay_ns: float

    @property
    def all(self) -> Resources:
        """Resources of all instances."""
        return self.each * self.count


def measure(
    top: Top,
    whole: bool,
    progress: Progress = lambda done, of, name: None,
    announce: Callable[[str], None] = lambda text: None,
) -> list[Block]:
    """Return the blocks of an engine, the top first.

    Each distinct block is synthesised once, several blocks concurrently if there are several cores.
    The cache stores its netlist.

    Args:
        top: the engine.
        whole: synthesise the engine as one block, which takes hours for a large one.
        progress: called with blocks done, blocks in all and the name of the next one.
        announce: called before the first synthesis with a description of the work, if blocks are
            missing in the cache.

    Raises:
        BadInput: Yosys is not installed.
        RuntimeError: Yosys rejects the design.
    """
    with scratch() as folder:
        export = convert(top.function, top.args, "verilog", folder, fold=False)
        return _measure(export, whole, progress, announce)


def _measure(
    export: Export, whole: bool, progress: Progress, announce: Callable[[str], None]
) -> list[Block]:
    files = {file.stem: file for file in export.files}
    borders = all_blocks().apart
    roots = [
        name  # leaves first, the top last
        for name in export.instances
        if name == export.top or (not whole and export.blocks[name] in borders)
    ]
    parts = {}
    for name in roots:
        within = set(inside(export, name, set(roots) - {name}))
        parts[name] = [files[each] for each in (name, *within)], name, within & set(roots)
    missing = [name for name in roots if not is_kept(*parts[name])]
    if missing:
        characters = sum(file.stat().st_size for name in missing for file in parts[name][0])
        seconds = _SECONDS * len(missing) + characters / _CHARACTERS
        announce(
            f"{sum(export.instances[name] for name in roots):,} blocks, {len(roots)} distinct: "
            f"{len(missing)} to synthesise, {cores()} at once, about {seconds / 60:,.0f} minutes "
            "of CPU time; after an interrupt, finished blocks remain in the cache"
        )
    modules = beside([partial(synthesise, *parts[name]) for name in roots])
    known: dict[str, Timing] = {}

    def timing(kind: str, parameters: Any) -> Timing:
        return known[kind] if kind in known else cell_timing(kind, parameters)

    found = []
    for done, name in enumerate(roots):
        progress(done, len(roots), name)
        module = next(modules)
        known[name] = block_timing(module, timing)
        kinds = Counter(cell["type"] for cell in module["cells"].values())
        each = count_cells({kind: count for kind, count in kinds.items() if kind not in known})
        found.append(
            Block(
                name=name,
                count=export.instances[name],
                each=each,
                delay_ns=known[name].inside,
            )
        )
    return found[::-1]


def inside(export: Export, name: str, borders: set[str]) -> Iterator[str]:
    """Yield the entities inside ``name``, down to the entities in ``borders``, inclusive."""
    for child in export.children[name]:
        yield child
        if child not in borders:
            yield from inside(export, child, borders)


def total(blocks: list[Block]) -> Resources:
    """Return the resources of all blocks."""
    return sum((block.all for block in blocks), Resources())
