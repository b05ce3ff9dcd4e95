"""Report the cycle of waits in a deadlocked pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from merp.cosim.machines.cnn_merp.at_once.batch import ConcurrentBatch
from merp.cosim.machines.cnn_merp.at_once.engines import ConcurrentEngine
from merp.cosim.machines.cnn_merp.at_once.waits import ENTRANCE, HOST, Standing, WaitedFifo
from merp.cosim.machines.cnn_merp.pipeline.pipeline import HardwarePipeline
from merp.models.machines.cnn_merp.params.pipeline_design import SliceDesign


def circle(batch: ConcurrentBatch, status: Mapping[str, int]) -> str:
    """Return the cycle of waits of a deadlocked pipeline."""
    standing, pipeline = Standing(batch, status), batch.hardware
    assert isinstance(pipeline, HardwarePipeline)
    names = {engine.name: engine for engine in pipeline.engines}
    return standing.circle(
        each
        for engine in names.values()
        for each in _fifos(standing, engine, names, pipeline.design.slices[engine.place - 1])
    )


def _fifos(
    standing: Standing,
    engine: ConcurrentEngine,
    names: Mapping[str, ConcurrentEngine],
    design: SliceDesign,
) -> Iterable[WaitedFifo]:
    """Yield the FIFOs in front of an engine of a pipeline."""
    place = engine.place
    front, behind = f"layer{place - 1}_fp", f"layer{place + 1}_dp"
    joint = design.joint
    rows: dict[str, list[tuple[str, str, str, str, int, str | None]]] = {
        "fp": [("map_in", "maps", front, "map_out", joint, None)],
        "dp": [
            ("delta_in", "deltas", behind, "delta_out", joint, None),
            ("state_in", "state", front, "state_out", design.states, "states"),
        ],
        "ku": [
            ("map_in", "features", front, "map_out", design.features, "features"),
            ("delta_in", "deltas", behind, "delta_out", joint, None),
        ],
    }
    for port, kind, giver, its, words, store in rows[engine.phase.name]:
        if giver in names:
            who, given = names[giver].said, standing.count(giver, its)
        else:
            who = ENTRANCE if port == "map_in" else HOST
            takers = [
                each.name for each in names.values() if each.place == place and port in each.streams
            ]
            given = max(standing.count(name, port) for name in takers)
        yield standing.fifo(engine, port, kind, who, given, words, store)
