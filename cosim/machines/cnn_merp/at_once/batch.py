"""A batch in engines that run concurrently, and its checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.at_once.engines import ConcurrentEngine, ConcurrentEngines
from merp.cosim.phases.audit.audit import audit
from merp.cosim.phases.audit.run_and_audit import Audited
from merp.cosim.phases.expectation import GroupPass
from merp.models.base.bits import Bits
from merp.models.machines.cnn_merp.params.pipeline_registers import (
    ADMISSION,
    PipelineRun,
)
from merp.testbenches.top.run import DerivedSource, Run

STORES = {"features": "ku", "states": "dp"}
"""The stores of a layer, each with the phase that reads from it."""


@dataclass(frozen=True)
class ConcurrentBatch:
    """A training step as one run of concurrent engines.

    Attributes:
        hardware: the engines.
        run: the run for the testbench.
        passes: the pass of each engine, by the engine's name.
    """

    hardware: ConcurrentEngines
    run: Run
    passes: Mapping[str, GroupPass]

    def audited(self, record: RunRecord) -> dict[str, Audited]:
        """Audit each engine, by its name. Its streams have the names of its stand-alone top."""
        found = {}
        for engine in self.hardware.engines:
            seen, joined = self._seen(record, engine)
            expected = self.passes[engine.name].expected
            found[engine.name] = Audited(seen, audit(seen, expected, joined=joined))
        return found

    @property
    def goldens(self) -> dict[str, Bits]:
        """The expected output words, by stream of the top."""
        found = {}
        for engine in self.hardware.engines:
            for port, each in self.passes[engine.name].expected.ports.items():
                pin = self.hardware.pin(engine, port)
                if pin is not None and each.golden is not None:
                    found[pin] = each.golden
        return found

    @property
    def counts(self) -> dict[str, int]:
        """The expected final values of counters, independent of any pauses."""
        found = {"flight": 0}
        for engine in self.hardware.engines:
            expected = self.passes[engine.name].expected
            counted = {name: port.closed_form for name, port in expected.ports.items()}
            counted |= {"issue": expected.work.issue, "useful": expected.work.useful}
            found |= {f"{engine.name}_{name}": count for name, count in counted.items()}
            phase = engine.phase.name
            found |= {f"{engine.where}_{kept}_fill": 0 for kept in STORES if STORES[kept] == phase}
        return found

    def failures(self, record: RunRecord) -> list[str]:
        """Return the failed checks of the whole run, apart from the audits of single engines."""
        return [*record.outcome.faults, *self._left(record)]

    def _seen(
        self, record: RunRecord, engine: ConcurrentEngine
    ) -> tuple[RunRecord, dict[str, int]]:
        """Return the record of one engine, and the counts of its neighbours."""
        outcome, prefix = record.outcome, f"status_{engine.name}_"
        joined: dict[str, int] = {}
        pins: dict[str, str] = {}
        for port, stream in engine.streams.items():
            pin = self.hardware.pin(engine, port)
            if pin is None:
                joined[port] = sum(
                    each.sign * outcome.status[f"status_{each.whose}_{each.port}"]
                    for each in self.hardware.joined(engine, port)
                )
            else:
                pins[stream] = pin
        seen = replace(
            outcome,
            words={own: outcome.words[pin] for own, pin in pins.items() if pin in outcome.words},
            transfers={own: outcome.transfers[pin] for own, pin in pins.items()},
            first={own: outcome.first[pin] for own, pin in pins.items()},
            last={own: outcome.last[pin] for own, pin in pins.items()},
            status={
                f"status_{name.removeprefix(prefix)}": value
                for name, value in outcome.status.items()
                if name.startswith(prefix)
            }
            | {"status_framing_error": 0},  # reported for all engines together
            faults=(),
        )
        return replace(record, outcome=seen), joined

    def _left(self, record: RunRecord) -> list[str]:
        """Return faults at the end of a run.

        A fault is a word left in a store, an image in flight at the end, or too many images in
        flight at once.
        """
        status = record.outcome.status
        stores = tuple(f"{store}_fill" for store in STORES)
        left = {name: count for name, count in status.items() if name.endswith(stores)}
        left["status_flight"] = status["status_flight"]
        found = [
            f"{name.removeprefix('status_')}: {count} at the end, not 0"
            for name, count in left.items()
            if count
        ]
        most, allowed = status["status_flight_peak"], self.run.config["config_admission_depth"]
        if most > allowed:
            found.append(f"flight_peak: {most} images in flight, not {allowed} at most")
        if status["status_framing_error"]:
            found.append("framing_error: the last flag of an input is not at its last word")
        return found


def batch_of(
    engines: ConcurrentEngines,
    passes: Mapping[str, GroupPass],
    entry: PipelineRun,
    stalls: Mapping[str, Sequence[int]] | None = None,
) -> ConcurrentBatch:
    """Return the run of a batch.

    Each engine has its pass, and ``entry`` has the admission registers.
    """
    config = {f"config_{name}": value for name, value in ADMISSION.values(entry).items()}
    words = {}
    for engine in engines.engines:
        run = passes[engine.name].run
        config |= {f"config_{engine.name}_{name}": value for name, value in run.config.items()}
        for port, stream in engine.streams.items():
            pin = engines.pin(engine, port)
            if pin is not None and stream in run.words:
                words[pin] = run.words[stream]
    answers = {"s_axis_delta": DerivedSource("m_axis_map", entry.losses, entry.losses)}
    return ConcurrentBatch(engines, Run(config, words, stalls or {}, answers=answers), passes)
