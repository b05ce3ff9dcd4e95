"""A batch on a chain with one simulation per board. The record equals that of one simulation."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.chain.batch import ClusterBatch
from merp.cosim.machines.cnn_merp.chain.board_task import BoardTask, WindowReport
from merp.cosim.machines.cnn_merp.chain.cluster import Cluster
from merp.cosim.machines.cnn_merp.chain.peers import Peer, Peers
from merp.models.base.errors import CheckFailed
from merp.models.base.register_map import FLAGS
from merp.testbenches.cnn_merp.chain.board import FACING
from merp.testbenches.top.border import Come, Left, Row
from merp.testbenches.top.player import PROGRESS_CYCLES, Progress
from merp.testbenches.top.run import Outcome, Run, Stuck
from merp.testbenches.top.top import TopPorts


def run_apart(
    batch: ClusterBatch,
    array: str,
    engine: str,
    limit: int,
    peers: Peers,
    progress: Progress | None = None,
) -> RunRecord:
    """Run a batch, with each board on one of ``peers``. The peers are ended if an error occurs.

    Args: as for ``Top``, ``run_job`` and ``Job``.

    Raises:
        BadInput: the number of peers is less than the number of boards.
        CheckFailed: a peer has ended early.
        Stuck: no word moved for ``limit`` cycles.
    """
    whole = batch.hardware
    network = replace(whole.network, weights={})  # large, and unused by the hardware
    cluster = Cluster(network, whole.shares, whole.design, whole.rule)
    places = range(len(cluster.design.nodes))
    ports = [cluster.board(place, array).ports for place in places]
    with peers.that_end_if_it_fails(len(places)) as boards:
        for place, board in enumerate(boards):
            board.send(
                BoardTask(cluster, place, _part(batch.run, ports[place]), array, engine, limit)
            )
        return _joined(_conduct(boards, _Wiring(ports), cluster.design.link.latency, progress))


class _Wiring:
    """The connections between the outputs and the inputs of the boards."""

    def __init__(self, ports: Sequence[TopPorts]) -> None:
        self._from: list[list[tuple[int, int]]] = []
        for place, own in enumerate(ports):
            sources = []
            for pin in own.arriving:
                _, side, wire = pin.name.split("_", 2)
                other = place + (1 if side == "back" else -1)
                names = [each.name for each in ports[other].leaving]
                sources.append((other, names.index(f"leaving_{FACING[side]}_{wire}")))
            self._from.append(sources)

    def come(self, lefts: Sequence[Left]) -> list[Come]:
        """Return the message to each board at the end of a window."""
        ends = [each.done for each in lefts if each.done is not None]
        done = max(ends) if len(ends) == len(lefts) else None
        moved = max(each.moved for each in lefts)
        cycles = range(len(lefts[0].rows))
        rows: list[list[Row]] = [
            [tuple(lefts[other].rows[cycle][at] for other, at in sources) for cycle in cycles]
            for sources in self._from
        ]
        return [Come(each, moved, done) for each in rows]


def _conduct(
    boards: Sequence[Peer], wiring: _Wiring, window: int, progress: Progress | None
) -> list[RunRecord]:
    """Exchange signals between the boards, window by window, until every board has its record."""
    cycles = 0
    while True:
        messages = [board.recv() for board in boards]
        told = [each for each in messages if isinstance(each, WindowReport)]
        records = [each for each in messages if isinstance(each, RunRecord)]
        if len(records) == len(boards):
            return records
        if len(told) < len(boards):
            raise _raised(messages)
        for board, come in zip(boards, wiring.come([each.left for each in told]), strict=True):
            board.send(come)
        cycles += window
        if progress and cycles % PROGRESS_CYCLES < window:
            progress(cycles, sum(each.words for each in told))


def _raised(messages: Sequence[object]) -> Exception:
    """Combine the errors of the boards: all are stuck together, or one has another error."""
    stuck = [each for each in messages if isinstance(each, Stuck)]
    for node, each in enumerate(messages):
        if isinstance(each, CheckFailed) and each not in stuck:
            return CheckFailed(f"node {node}: {each}")
        if isinstance(each, Exception) and each not in stuck:
            return each
    return Stuck(str(stuck[0]), _status(each.status for each in stuck))


def _part(run: Run, ports: TopPorts) -> Run:
    """Return a board's part of a run of the chain."""
    inputs, streams = ({pin.name for pin in of} for of in (ports.inputs, ports.streams))
    return replace(
        run,
        config={pin.name: run.config[pin.name] for pin in ports.config},
        words=_some(run.words, inputs),
        stalls=_some(run.stalls, streams),
        answers=_some(run.answers, inputs),
    )


def _some(found: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: each for name, each in found.items() if name in names}


def _joined(records: Sequence[RunRecord]) -> RunRecord:
    """Combine the records of the boards into the record of the chain."""
    outcomes = [each.outcome for each in records]

    def all_of(key: str) -> dict[str, Any]:
        return {name: each for of in outcomes for name, each in getattr(of, key).items()}

    outcome = Outcome(
        words=all_of("words"),
        transfers=all_of("transfers"),
        first=all_of("first"),
        last=all_of("last"),
        status=_status(each.status for each in outcomes),
        cycles=max(each.cycles for each in outcomes),
        resets=max(each.resets for each in outcomes),
        faults=tuple(chain.from_iterable(each.faults for each in outcomes)),
        seconds=max(each.seconds for each in outcomes),
    )
    shas = "".join(each.elaboration_sha for each in records)
    return RunRecord(
        engine=records[0].engine,
        elaboration_sha=hashlib.sha256(shas.encode()).hexdigest(),
        outcome=outcome,
        build_seconds=max(each.build_seconds for each in records),
    )


def _status(of: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return the status of a chain. It is done if all boards are; busy or wrong if any board is."""
    boards = list(of)
    flags = {
        f"status_{flag}": int((all if flag == "done" else any)(b[f"status_{flag}"] for b in boards))
        for flag in FLAGS
    }
    return {name: value for each in boards for name, value in each.items()} | flags
