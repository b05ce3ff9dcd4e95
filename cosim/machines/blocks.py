"""Blocks that are synthesised and routed apart, of whatever machine."""

from __future__ import annotations

from dataclasses import dataclass

from merp.cosim.machines.loader import having


@dataclass(frozen=True)
class Blocks:
    """Blocks by the names of their functions; a machine's are its part ``blocks``.

    Attributes:
        apart: synthesised apart, with what is in them but for further blocks: no more than a CU's
            worth of logic each, and registered at their outputs, so that little is lost at the
            borders.
        routed: routed where none are named: no more than a CU's worth of logic, with paths between
            registers.
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
    """Those that machines share, and those of each machine."""
    found: list[Blocks] = [SHARED, *having("blocks").values()]
    return Blocks(
        frozenset().union(*(each.apart for each in found)),
        frozenset().union(*(each.routed for each in found)),
    )
