"""A fault in any one hardware counter, of any phase, is caught by the audit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from merp.cosim import training_step
from merp.cosim.audit import audit
from merp.cosim.expectation import Expectation
from merp.cosim.record import Record
from merp.cosim.training_step import HardwareStep
from merp.hdl.bundles import DeltaStatus, ForwardStatus
from merp.hdl.gradient_bundles import KernelUpdateStatus
from merp.models.arithmetic import to_bits
from merp.models.network_file import read_network
from merp.models.training import Rates, initial_model
from merp.tools import simulate_backward
from merp.tools.cli import main

NETWORK = """
[network]
name = "tiny"
input = { rows = 4, columns = 4, channels = 1 }
[[layer]]
name = "conv1"
maps = 2
kernel = 2
pool = { kind = "max", window = 2, stride = 1 }
design = "k2"
[[layer]]
name = "conv2"
maps = 3
kernel = 2
pool = { kind = "max", window = 1, stride = 1 }
design = "k2"
[design.k2]
k = 2
n_cu = 2
mul_latency = 1
add_latency = 2
"""

STATUS = {
    "forward with state": ForwardStatus(state=True),
    "delta": DeltaStatus(),
    "kernel_update with momentum": KernelUpdateStatus(momentum=True),
    "kernel_update with state": KernelUpdateStatus(state=True),
}
COUNTERS = [
    (top, name)
    for top, status in STATUS.items()
    for name in sorted(set(vars(status)) - {"busy", "done", "framing_error"})
]

Audited = dict[str, tuple[Record, Expectation]]


@pytest.fixture(scope="module")
def audited(network_file: Path) -> Audited:
    """A record of each top, from a step with momentum and from a simulation that expands deltas."""
    network = read_network(network_file)
    found: Audited = {}

    def keep(record: Record, expected: Expectation, *wave: Any) -> Any:
        ports = expected.ports
        kind = "forward with state" if "state_out" in ports else "delta"
        if "kernel_out" in ports:
            kind = f"kernel_update with {'state' if 'state_in' in ports else 'momentum'}"
        found[kind] = record, expected
        return audit(record, expected, *wave)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training_step, "audit", keep)
        patch.setattr(simulate_backward, "audit", keep)
        HardwareStep(network, "myhdl", 1).step(
            initial_model(network, 0),
            to_bits(np.random.default_rng(0).uniform(0, 1, (1, *network.input)), network.fmt),
            np.zeros(1, np.int64),
            Rates.of(0.1, 0.5, 1, network.fmt),
        )
        arguments = ["--layer", "conv1", "--phase", "ku", "--delta-at", "pooled"]
        assert main(["simulate", str(network_file), *arguments]) == 0
    assert found.keys() == STATUS.keys()
    return found


@pytest.mark.parametrize("step", [-1, 1])
@pytest.mark.parametrize(("top", "name"), COUNTERS)
def test_a_fault_in_a_counter_is_caught(top: str, name: str, step: int, audited: Audited) -> None:
    record, expected = audited[top]
    assert audit(record, expected).passed
    status = dict(record.status)
    status[f"status_{name}"] += step
    assert audit(replace(record, status=status), expected).failures
