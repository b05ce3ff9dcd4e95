"""Works on other engines: what is known of one holds of the other."""

from dataclasses import replace
from random import Random

import pytest

from merp.models.machines.cnn_merp.params.design import PORTS
from small_works import PHASES, work_of


@pytest.mark.parametrize("kind", ["conv", "fc"])
@pytest.mark.parametrize("phase", PHASES)
def test_a_work_on_another_engine_is_that_work_made_anew(phase: str, kind: str) -> None:
    """The engines differ in units, positions in turn, rings and ports."""
    random = Random(f"{phase} {kind}")
    known = "kind", "least", "convolution", "positions", "terms", "sweep", "whole"
    for _ in range(40):
        work = work_of(random, phase, kind=kind)
        changes = {
            "n_cu": random.randint(1, 8),
            "p": random.choice((1, 2)),
            "d": random.choice((1, 2)),
            "kernel_port": random.choice(PORTS),
            "map_port": random.choice(PORTS[:2]),
        }
        try:
            engine = replace(work.engine, **changes)
        except ValueError:  # the format, or folded layers, do not allow the ports
            continue
        kept, anew = work.on(engine), replace(work, engine=engine)
        assert kept == anew
        for name in known:
            assert getattr(kept, name) == getattr(anew, name), name
