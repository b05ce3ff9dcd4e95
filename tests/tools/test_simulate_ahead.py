"""What ``merp simulate`` tells an engine ahead: the tops that follow, and their cycles."""

from pathlib import Path
from typing import Any

import pytest

from merp.cosim.engines.job import Wanted
from merp.tools.cli import main
from merp.tools.common.progress import Progress
from merp.tools.simulate import run
from network_text import layer, max_pool, network_text

SERIAL = network_text(
    "serial",
    (6, 6, 2),
    layer("conv1", 4, kernel=3, groups=2, design="k3", pool=max_pool(2, 2)),
    layer("fc2", 2, relu=False, design="k1"),
    designs={
        "k3": {"k": 3, "n_cu": 2, "r": 1, "mul_latency": 1, "add_latency": 2},
        "k1": {"k": 1, "n_cu": 2, "r": 1, "mul_latency": 1, "add_latency": 2},
    },
)
ARRAY = network_text(
    "array",
    (4, 4, 1),
    layer("conv1", 2, kernel=3, pad=1, pool=max_pool(2, 2), design="array"),
    layer("fc2", 2, relu=False, design="array"),
    designs={"array": {"architecture": "mac-array", "pox": 4, "poy": 4, "pof": 4}},
    format="fixed16",
)


@pytest.mark.parametrize(("text", "sittings"), [(SERIAL, 5), (ARRAY, 1)])
def test_an_engine_learns_of_all_tops_that_follow_and_of_their_cycles(
    text: str, sittings: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "network.toml").write_text(text)
    told: list[tuple[Any, list[Wanted]]] = []
    expected: list[int | None] = []

    def noted(top: Any, passes: Any, engine: str, wave: Any, tell: Any, wanted: Any) -> Any:
        told.append((top, wanted))
        return usual(top, passes, engine, wave, tell, wanted)

    usual = run.run_and_audit
    monkeypatch.setattr(run, "run_and_audit", noted)
    monkeypatch.setattr(Progress, "expect", lambda self, cycles: expected.append(cycles))
    words = ["simulate", str(tmp_path / "network.toml"), "--layer", "all", "--phase", "all"]
    assert main([*words, "--images", "2"]) == 0
    assert [len(wanted) for _, wanted in told] == list(range(sittings, 0, -1))
    every = told[0][1]
    for number, (top, wanted) in enumerate(told):
        assert wanted[0].top is top
        assert wanted == every[number:]
    cycles = [each.cycles or 0 for each in every]
    assert min(cycles) > 0
    assert [sum(cycles)] == expected
