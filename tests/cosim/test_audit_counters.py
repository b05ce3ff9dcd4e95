"""A fault in any one hardware counter, of any phase, is caught by the audit; so is a wrong word."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.engines.record import RunRecord
from merp.cosim.machines.cnn_merp.phases.forward import expect_forward, forward_run, forward_top
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.machines.training.hardware_step import HardwareStep
from merp.cosim.phases.audit import run_and_audit
from merp.cosim.phases.audit.audit import Audit, audit
from merp.cosim.phases.audit.waveform import transfers
from merp.cosim.phases.expectation import Expectation
from merp.hdl.base.status import Status
from merp.hdl.cnn_merp.ports.forward_ports import ForwardPorts
from merp.models.arithmetic.words import to_bits
from merp.models.base.counters import PROPAGATION
from merp.models.base.shape import Shape
from merp.models.golden.super_layer import super_layer
from merp.models.golden.training import initial_model, rates_of
from merp.models.machines.cnn_merp.params.sizing import size_design
from merp.models.machines.cnn_merp.params.word_counters import (
    BACKWARD_WORDS,
    DELTA_WORDS,
    FORWARD_STATE_WORDS,
    FORWARD_WORDS,
    KERNEL_UPDATE_STATE_WORDS,
    KERNEL_UPDATE_WORDS,
    VELOCITY_WORDS,
)
from merp.models.network.network_file import read_network
from merp.testbenches.top.wave import Wave
from merp.tools.cli import main
from network_text import layer, max_pool, network_text

NETWORK = network_text(
    "tiny",
    (4, 4, 1),
    layer("conv1", 2, kernel=2, pool=max_pool(2, 1), design="k2"),
    layer("conv2", 3, kernel=2, pool=max_pool(1, 1), design="k2"),
    designs={"k2": {"k": 2, "n_cu": 2, "mul_latency": 1, "add_latency": 2}},
)

STATUS = {
    "forward with state": Status((*FORWARD_WORDS, *FORWARD_STATE_WORDS)),
    "delta": Status(DELTA_WORDS),
    "kernel_update with momentum": Status((*KERNEL_UPDATE_WORDS, *VELOCITY_WORDS)),
    "kernel_update with state": Status((*KERNEL_UPDATE_WORDS, *KERNEL_UPDATE_STATE_WORDS)),
    "backward": Status((*BACKWARD_WORDS, *PROPAGATION)),
}
COUNTERS = [
    (top, name)
    for top, status in STATUS.items()
    for name in sorted(set(vars(status)) - {"busy", "done", "framing_error"})
]

Audited = dict[str, tuple[RunRecord, Expectation]]


@pytest.fixture(scope="module")
def audited(network_file: Path) -> Audited:
    """A record of each top, from a step with momentum and from simulations that expand deltas."""
    network = read_network(network_file)
    found: Audited = {}

    def keep(record: RunRecord, expected: Expectation, *wave: Any) -> Any:
        ports = expected.ports
        kind = "forward with state" if "state_out" in ports else "delta"
        if "kernel_out" in ports:
            kind = f"kernel_update with {'state' if 'state_in' in ports else 'momentum'}"
        if expected.halves:
            kind = "backward"
        found[kind] = record, expected
        return audit(record, expected, *wave)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_and_audit, "audit", keep)
        HardwareStep(WholeLayers(network, 1), "myhdl").step(
            initial_model(network, 0),
            to_bits(np.random.default_rng(0).uniform(0, 1, (1, *network.input)), network.fmt),
            np.zeros(1, np.int64),
            rates_of(0.1, 1, network.fmt, momentum=0.5),
        )
        for words in ("conv1 --phase ku --delta-at pooled", "conv2 --phase bp"):
            assert main(["simulate", str(network_file), "--layer", *words.split()]) == 0
    assert found.keys() == STATUS.keys()
    return found


def changed(record: RunRecord, **seen: Any) -> RunRecord:
    """The record of a run in which something else was seen."""
    return replace(record, outcome=replace(record.outcome, **seen))


@pytest.mark.sample(59)
@pytest.mark.parametrize("step", [-1, 1])
@pytest.mark.parametrize(("top", "name"), COUNTERS)
def test_a_fault_in_a_counter_is_caught(top: str, name: str, step: int, audited: Audited) -> None:
    record, expected = audited[top]
    assert audit(record, expected).passed
    status = dict(record.outcome.status)
    status[f"status_{name}"] += step
    assert audit(changed(record, status=status), expected).failures


@pytest.mark.parametrize("top", STATUS)
def test_a_real_board_is_audited_without_a_monitor(top: str, audited: Audited) -> None:
    record, expected = audited[top]
    unseen = changed(record, transfers={}, first={}, last={})
    found, full = audit(unseen, expected), audit(record, expected)
    assert found.passed
    assert found.bytes == full.bytes
    for port, ways in found.ports.items():
        assert {**ways, "monitor": ways["hardware"]} == full.ports[port]
    status = dict(record.outcome.status)
    status[f"status_{next(iter(expected.ports))}"] += 1
    assert audit(changed(unseen, status=status), expected).failures


FORWARD_COUNTERS = sorted(set(vars(Status(FORWARD_WORDS))) - {"busy", "done", "framing_error"})


class Forward:
    """One run of the forward engine with a waveform of its ports, and what its audit needs."""

    def __init__(self, vcd: Path) -> None:
        self.shape = Shape(n=2, m=3, k=3, rows=3, columns=3, pad=1)
        self.design = size_design([self.shape], n_cu=2, r=2)
        rng = np.random.default_rng(1)
        kernels, bias, x = (
            to_bits(rng.standard_normal(size), self.design.fmt)
            for size in ((3, 2, 3, 3), (3,), (2, 3, 3, 2))
        )
        self.golden = super_layer(x, kernels, bias, self.shape, self.design.fmt)
        stalls = {
            "s_axis_map": (1, 0, 0, 0, 0, 0, 0),
            "m_axis_map": (0, 0, 1),
            "s_axis_bias": (0, 1),
        }
        run = forward_run(self.shape, self.design, x, kernels, bias, stalls, reset_at=60)
        top = forward_top(self.design, "behavioural")
        (self.record,) = run_job(Job(top, [run], wave=Wave(vcd)), "myhdl")
        (self.waveform,) = transfers(vcd, list(ForwardPorts.streams_of(self.design).values()))

    def audit(self, record: RunRecord) -> Audit:
        expected = expect_forward(self.shape, 2, self.design, self.golden)
        return audit(record, expected, self.waveform)


@pytest.fixture(scope="module")
def forward(tmp_path_factory: pytest.TempPathFactory) -> Forward:
    return Forward(tmp_path_factory.mktemp("vcd") / "ports.vcd")


def test_audit_passes_with_stalls_and_a_reset(forward: Forward) -> None:
    found = forward.audit(forward.record)
    assert found.failures == ()
    assert found.bit_exact
    assert forward.record.outcome.resets == 1
    assert found.cycles["stall_input"] + found.cycles["stall_output"] > 0


@pytest.mark.parametrize("step", [-1, 1])
@pytest.mark.parametrize("name", FORWARD_COUNTERS)
def test_a_fault_in_a_counter_is_caught_beside_a_waveform(
    name: str, step: int, forward: Forward
) -> None:
    status = dict(forward.record.outcome.status)
    status[f"status_{name}"] += step
    found = forward.audit(changed(forward.record, status=status))
    assert found.failures


def test_audit_names_the_first_wrong_word(forward: Forward) -> None:
    words = forward.record.words("m_axis_map").copy()
    words[3 * 4 + 1] ^= 1
    found = forward.audit(changed(forward.record, words={"m_axis_map": words}))
    assert (found.mismatches, found.bit_exact) == (1, False)
    assert "1 of 54 words differ, the first at (0, 1, 1, 1)" in (found.failures[0])


def test_audit_counts_missing_words_as_mismatches(forward: Forward) -> None:
    words = {"m_axis_map": forward.record.words("m_axis_map")[:-2]}
    found = forward.audit(changed(forward.record, words=words))
    assert (found.mismatches, found.words_compared, found.passed) == (2, 52, False)
    none = forward.audit(changed(forward.record, words={"m_axis_map": np.zeros(0, np.uint32)}))
    assert (none.words_compared, none.bit_exact) == (0, False)
