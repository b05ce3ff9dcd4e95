"""Resources of an engine, summed over its blocks: each distinct one is synthesised once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from merp.cosim.scratch import scratch
from merp.cosim.synthesis.synthesis import synthesise
from merp.hdl.conversion.convert import Export, convert
from merp.models.fpga.cell_timing import Timing, cell_timing
from merp.models.fpga.logic_delay import block_timing
from merp.models.fpga.resources import Resources, count_cells
from merp.testbenches.top.top import Top

BLOCKS = frozenset(
    {
        "accumulator", "backward", "bank", "bias_gradient", "cu_array", "cu_fused", "cu_narrow",
        "delta",
        "delta_buffer", "delta_loader", "dilater", "forward", "fp_add", "fp_mul", "fused_operands",
        "gradient_array", "gradient_cu", "input_path", "kernel_loader", "dual_port_ram",
        "narrow_products",
        "kernel_update", "row_array", "row_cu", "run_counters", "super_layer", "unpool",
        "update_unit", "wide_update",
        "atom_sender", "circulant_order", "credit_source", "lane_buffer", "loss_unit", "mac_array",
        "mac_lane", "output_buffer", "output_path", "random_bits", "round_lane", "round_lanes",
        "sweep_drain", "tile_drain", "tile_walk", "update_path", "upsampler", "weight_update",
        "data_router", "delta_lanes", "gradient_supply", "layer_supply", "map_buffer",
        "operand_supply", "pass_counters", "region_rotator", "trainer", "transposable_buffer",
        "unpool_path",
    }
)  # fmt: skip
"""Synthesised apart, with what is in them but for further blocks: no more than a CU's worth of
logic each, and registered at their outputs, so that little is lost at the borders."""

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, kw_only=True)
class Block:
    """A block of the design.

    Attributes:
        name: of its entity. count: how many of it the whole design has.
        each: resources of one, without the blocks inside.
        delay_ns: estimate of its longest path between registers, its own or those of blocks inside.
    """

    name: str
    count: int
    each: Resources
    delay_ns: float

    @property
    def all(self) -> Resources:
        """Resources of all of it."""
        return self.each * self.count


def measure(top: Top, whole: bool, progress: Progress = lambda done, of, name: None) -> list[Block]:
    """Blocks of an engine, the top first.

    Args:
        top: the engine. whole: synthesise it as one block, which takes hours for a large one.
        progress: called with blocks done, blocks in all and the name of the next one.

    Raises:
        BadInput: Yosys is not installed.
        RuntimeError: it refuses the design.
    """
    with scratch() as folder:
        export = convert(top.function, top.args, "verilog", folder)
        return _measure(export, whole, progress)


def _measure(export: Export, whole: bool, progress: Progress) -> list[Block]:
    files = {file.stem: file for file in export.files}
    roots = [
        name  # leaves first, the top last
        for name in export.instances
        if name == export.top or (not whole and export.blocks[name] in BLOCKS)
    ]
    known: dict[str, Timing] = {}

    def timing(kind: str, parameters: Any) -> Timing:
        return known[kind] if kind in known else cell_timing(kind, parameters)

    found = []
    for done, name in enumerate(roots):
        progress(done, len(roots), name)
        within = set(inside(export, name, set(roots) - {name}))
        borders = within & set(roots)
        module = synthesise([files[each] for each in (name, *within)], name, borders)
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
    """Entities inside ``name``, down to and with those of ``borders``."""
    for child in export.children[name]:
        yield child
        if child not in borders:
            yield from inside(export, child, borders)


def total(blocks: list[Block]) -> Resources:
    """Resources of all blocks."""
    return sum((block.all for block in blocks), Resources())
