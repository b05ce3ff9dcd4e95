"""Blocks of all machines that are synthesised and routed separately."""

from __future__ import annotations

from dataclasses import dataclass

from merp.cosim.machines.loader import having


@dataclass(frozen=True)
class Blocks:
    """Blocks, by the names of their functions.

    The part ``blocks`` of a machine holds its own blocks.

    Attributes:
        apart: blocks that are synthesised separately, with all blocks inside that are not in this
            list. Each has at most the logic of one CU and registered outputs. Therefore little
            optimisation is lost at the borders.
        routed: blocks that are routed if the user names none. Each has at most the logic of one CU
            and has paths between registers.
    """

    apart: frozenset[str] = frozenset()
    routed: frozenset[str] = frozenset()


SHARED = Blocks(
    apart=frozenset(
        {
            "bank", "credit_source", "dual_port_ram", "fp_add", "fp_mul", "narrow_products",
        }
    ),
    routed=frozenset(
        {
            "fp_add", "fp_mul",
        }
    ),
)  # fmt: skip


def all_blocks() -> Blocks:
    """Return the blocks that machines share and the blocks of each machine."""
    found: list[Blocks] = [SHARED, *having("blocks").values()]
    return Blocks(
        frozenset().union(*(each.apart for each in found)),
        frozenset().union(*(each.routed for each in found)),
    )
