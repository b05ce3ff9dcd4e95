"""A node of a chain by itself: what it is given and must give, as the others would have it."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from clusters import batch_on, small_cut

from merp.cosim.engines.engine import run_job
from merp.cosim.engines.job import Job
from merp.cosim.machines.cnn_merp.chain.node import node_batch


@pytest.mark.parametrize(
    ("devices", "place"),
    [
        (5, 2),  # a share from the middle of a layer
        pytest.param(3, 0, marks=pytest.mark.full),
        pytest.param(3, 2, marks=pytest.mark.full),
    ],
)
def test_a_node_alone_does_its_part(tmp_path: Path, devices: int, place: int) -> None:
    """In two runs, the first broken off; every stream has a word from the start on."""
    made = node_batch(batch_on(small_cut(tmp_path), devices), place)
    runs = [replace(made.run, reset_at=101), made.run]
    records = run_job(Job(made.hardware.top("behavioural"), runs, limit=3000), "myhdl")
    for record in records:
        # What comes from others is not counted, but taken whenever there is a place for it.
        faults = [each for each in record.outcome.faults if "ready after all" not in each]
        assert faults == []
        for name, golden in made.goldens.items():
            np.testing.assert_array_equal(record.outcome.words[name], golden.reshape(-1), name)
        status = record.outcome.status
        wrong = {name: n for name, n in made.counts.items() if status[f"status_{name}"] != n}
        assert not wrong
