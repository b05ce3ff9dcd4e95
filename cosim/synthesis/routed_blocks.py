"""Blocks of an engine placed and routed on another FPGA family, next to their path estimates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

from merp.cosim.engines.programs.beside import beside, cores
from merp.cosim.engines.programs.scratch import scratch
from merp.cosim.machines.blocks import all_blocks
from merp.cosim.synthesis.resources import Progress, inside
from merp.cosim.synthesis.routing import route
from merp.cosim.synthesis.synthesis import synthesise
from merp.hdl.conversion.convert import Export, convert
from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.fpga.logic_delay import block_timing
from merp.models.fpga.routed import Routed
from merp.testbenches.top.top import Top

_SECONDS = 30
"""CPU seconds of a placement with its share of the syntheses. measured: 8 blocks, 3 seeds."""


@dataclass(frozen=True, kw_only=True)
class RoutedBlock:
    """A block with its inner blocks.

    Attributes:
        name: name of its entity.
        estimate_ns: estimated longest path between registers, on the 7 series.
        runs: one run for each seed.
    """

    name: str
    estimate_ns: float
    runs: tuple[Routed, ...]

    @property
    def best(self) -> Routed:
        """The run whose longest path is the shortest."""
        return min(self.runs, key=lambda run: run.path_ns or 0.0)

    @property
    def spread_ns(self) -> float | None:
        """The difference between the longest paths of the worst and the best run.

        None without a path.
        """
        times = [run.path_ns for run in self.runs if run.path_ns is not None]
        return max(times) - min(times) if times else None

    @property
    def ratio(self) -> float | None:
        """The best run's path divided by the estimate; None if there is no path."""
        time = self.best.path_ns
        return time / self.estimate_ns if time and self.estimate_ns else None


def median_ratio(blocks: Sequence[RoutedBlock]) -> float | None:
    """Return the median of the ratios of blocks; None if no block has a ratio."""
    ratios = [block.ratio for block in blocks if block.ratio is not None]
    return median(ratios) if ratios else None


def route_blocks(
    top: Top,
    wanted: Sequence[str],
    seeds: int,
    progress: Progress = lambda done, of, name: None,
    announce: Callable[[str], None] = lambda text: None,
) -> list[RoutedBlock]:
    """Place and route blocks of an engine, each by itself.

    Args:
        top: the engine.
        wanted: names of blocks or entities; if it is empty, the default blocks of the machines.
        seeds: number of placements of each block, with the seeds 1, 2, ...
        progress: called with placements done, placements in all and the next placement.
        announce: called before the first synthesis with a description of the work.

    Raises:
        BadInput: Yosys or nextpnr is not installed, a block does not exist, or a block does not fit
            on the device.
        RuntimeError: Yosys or nextpnr rejects a block.
    """
    with scratch() as folder:
        export = convert(top.function, top.args, "verilog", folder, fold=False)
        names = _chosen(export, wanted)
        texts = {file.stem: file for file in export.files}
        of = len(names) * seeds
        announce(
            f"{len(names)} blocks, {of} placements, {cores()} at once: about "
            f"{of * _SECONDS / 60:,.0f} minutes of CPU time, less for those in the cache"
        )
        jobs: list[Callable[[], Any]] = []
        for name in names:
            within = dict.fromkeys((name, *inside(export, name, set())))
            files = [texts[each] for each in within]
            jobs.append(partial(synthesise, files, name))
            jobs += [partial(route, files, name, seed) for seed in range(1, seeds + 1)]
        results = beside(jobs)
        found = []
        for number, name in enumerate(names):
            done = number * seeds
            progress(done, of, f"synthesis of {name}")
            estimate = block_timing(next(results)).inside
            runs = []
            for seed in range(1, seeds + 1):
                progress(done + seed - 1, of, f"routing of {name}, seed {seed}")
                runs.append(next(results))
            found.append(RoutedBlock(name=name, estimate_ns=estimate, runs=tuple(runs)))
        return found


def _chosen(export: Export, wanted: Sequence[str]) -> list[str]:
    """Return entities by their own names or the names of their blocks, the top first."""
    entities = list(export.instances)[::-1]
    routed = all_blocks().routed
    usual = [name for name in entities if export.blocks[name] in routed]
    for word in wanted:
        if word not in entities and word not in export.blocks.values():
            raise BadInput(
                f"{given('block', word)}: the design has no such block: allowed are "
                f"{', '.join(usual)}, or another entity that merp export writes"
            )
    chosen = set(wanted)
    return [name for name in entities if {name, export.blocks[name]} & chosen] or usual
