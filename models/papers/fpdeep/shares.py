"""The paper's own cut: DSPs in proportion to operations, assigned as single DSPs."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from merp.models.base.ordered_sum import ordered_sum
from merp.models.papers.fpdeep.partition import Partition
from merp.models.papers.fpdeep.piece import Piece
from merp.models.papers.fpdeep.stage import LayerStage


def in_proportion(work: Sequence[int], dsps: int) -> list[Fraction]:
    """Return the share of ``dsps`` for each layer. source: FPDeep section III.A.1"""
    return [Fraction(dsps * each, sum(work)) for each in work]


def in_units(stages: Sequence[LayerStage], dsps: int) -> list[int]:
    """Return the shares, rounded to whole multiples of K x K; each layer has at least one.

    source: FPDeep section V.B
    """
    shares = in_proportion([stage.work for stage in stages], dsps)
    return [
        stage.taps * max(1, round(share / stage.taps))
        for stage, share in zip(stages, shares, strict=True)
    ]


def idle(stages: Sequence[LayerStage], dsps: Sequence[int]) -> float:
    """Return the share of DSP cycles that wait for the slowest layer."""
    slowest = max(stage.work / own for stage, own in zip(stages, dsps, strict=True))
    return 1 - ordered_sum(stage.work for stage in stages) / (slowest * ordered_sum(dsps))


def best_in_units(stages: Sequence[LayerStage], dsps: int) -> list[int]:
    """Return the multiples of K x K, within ``dsps``, that make the slowest layer fastest.

    Raises:
        ValueError: one unit for each layer needs more DSPs.
    """

    def needed(interval: int) -> list[int]:
        return [stage.taps * -(-stage.work // (stage.taps * interval)) for stage in stages]

    fast, slow = 0, max(stage.work // stage.taps for stage in stages)
    if sum(needed(slow)) > dsps:
        raise ValueError(f"{dsps} DSPs are less than a unit of each layer")
    while slow - fast > 1:
        middle = (slow + fast) // 2
        fast, slow = (fast, middle) if sum(needed(middle)) <= dsps else (middle, slow)
    return needed(slow)


def partition_in_proportion(stages: Sequence[LayerStage], nodes: int, dsps: int) -> Partition:
    """Return the paper's cut: DSPs in proportion to work, rounded to multiples of K x K."""
    own = in_units(stages, nodes * dsps)
    slowest = max(Fraction(stage.work, each) for stage, each in zip(stages, own, strict=True))
    pieces = cut_in_proportion(stages, nodes, dsps)
    return Partition(ceil(slowest), tuple(pieces), nodes, dsps, sum(own))


def cut_in_proportion(stages: Sequence[LayerStage], nodes: int, dsps: int) -> list[Piece]:
    """Return the pieces of ``nodes`` FPGAs with ``dsps`` DSPs each, all equally busy.

    Layers follow each other along the chain. If an FPGA ends inside a layer, it has a fraction of
    the layer. The fraction need not be a whole number of maps.
    """
    total = sum(stage.work for stage in stages)
    pieces, start = [], 0
    for stage in stages:
        end = start + stage.work
        for node in range(nodes * start // total, -(-nodes * end // total)):
            left = max(Fraction(start), Fraction(node * total, nodes))
            right = min(Fraction(end), Fraction((node + 1) * total, nodes))
            share = Fraction(right - left)
            pieces.append(
                Piece(
                    node=node,
                    stage=stage,
                    begin=(left - start) / stage.work,
                    end=(right - start) / stage.work,
                    dsps=float(nodes * dsps * share / total),
                )
            )
        start = end
    return pieces
