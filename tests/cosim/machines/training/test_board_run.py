"""Steps on a board: plans that no accelerator runs, and passes that nobody audits."""

from collections.abc import Generator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from merp.cosim.board.step_plan import PlannedPass, StepPlan
from merp.cosim.machines.cnn_merp.training.board_step import BoardStep
from merp.cosim.machines.cnn_merp.training.fused_layers import FusedLayers
from merp.cosim.machines.cnn_merp.training.whole_layers import WholeLayers
from merp.cosim.machines.training import board_run
from merp.cosim.machines.training.board_run import BoardRun, PlayedPasses, StoredArray
from merp.models.base.errors import BadInput, CheckFailed
from merp.models.base.rates import PLAIN
from merp.models.network.network import Network
from merp.tools.common.shipped import open_network
from network_text import layer, network_text

CONVOLUTION = {"kernel": 2, "relu": False, "design": "k2"}


def halves(folder: Path) -> Network:
    """A group of conv2 reads three of six maps, but a beat has two."""
    path = folder / "halves.toml"
    path.write_text(
        network_text(
            "halves",
            (5, 5, 2),
            layer("conv1", 6, **CONVOLUTION),
            layer("conv2", 4, groups=2, **CONVOLUTION),
            designs={"k2": {"k": 2, "n_cu": 2, "d": 2, "map_port": 2}},
        )
    )
    return open_network(str(path))


def test_parts_that_beats_do_not_divide_are_refused_before_a_build(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match="fp0: s_axis_map: runs must begin and end at multiples of 2"
    ):
        BoardStep(WholeLayers(halves(tmp_path), 1), 1, PLAIN)


def test_layers_in_combined_passes_are_refused() -> None:
    with pytest.raises(BadInput, match="tiny3: allowed in memory are undivided layers"):
        BoardStep(FusedLayers(open_network("tiny3"), 1), 1, PLAIN)


def planned(config: dict[str, int]) -> PlannedPass:
    return PlannedPass("conv1", "fp", 0, "fp0", config, {})


def passes(*configs: dict[str, int]) -> Generator[Any, Any, str]:
    for config in configs:
        yield SimpleNamespace(run=SimpleNamespace(config=config), expected=None)
    return "the result"


@pytest.fixture
def audited(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Records of the passes that were audited."""
    found: list[Any] = []
    monkeypatch.setattr(board_run, "without_cycles", lambda expected: expected)
    monkeypatch.setattr(board_run, "audit", lambda record, _: found.append(record))
    return found


def played(*configs: dict[str, int]) -> PlayedPasses:
    accelerator: Any = SimpleNamespace(record=lambda each, done: (each, done))
    seen: Any = object()
    return PlayedPasses(accelerator, iter([(planned(each), seen) for each in configs]))


def test_every_pass_is_audited_in_its_order(audited: list[Any]) -> None:
    found = played({"a": 1}, {"a": 2}, {"a": 3})
    assert found.audit(passes({"a": 1}, {"a": 2})) == "the result"
    found.audit(passes({"a": 3}))
    found.end()
    assert [each.config["a"] for each, _ in audited] == [1, 2, 3]


def test_a_pass_that_nothing_is_expected_of_is_a_failure(audited: list[Any]) -> None:
    found = played({"a": 1}, {"a": 2})
    found.audit(passes({"a": 1}))
    with pytest.raises(CheckFailed, match="conv1 fp 0: nothing is expected of this pass"):
        found.end()


def test_a_pass_that_the_list_lacks_is_a_failure(audited: list[Any]) -> None:
    with pytest.raises(CheckFailed, match="a pass of the step is missing in its list"):
        played({"a": 1}).audit(passes({"a": 1}, {"a": 2}))


def test_other_settings_are_a_failure(audited: list[Any]) -> None:
    with pytest.raises(CheckFailed, match="conv1 fp 0: settings of the list are wrong"):
        played({"a": 1}).audit(passes({"a": 2}))
    assert audited == []


class Memory:
    """Arrays of a board that is never built."""

    def __init__(self) -> None:
        self.arrays = self
        self.words: dict[str, Any] = {}
        self.writes: list[str] = []

    def put(self, name: str, words: Any) -> None:
        self.writes.append(name)
        self.words[name] = words

    def get(self, name: str) -> Any:
        return self.words[name]


def test_a_model_is_written_once_and_compared_where_words_count(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    memory = Memory()
    monkeypatch.setattr(board_run, "check_step", lambda step, dram: None)
    monkeypatch.setattr(board_run, "Accelerator", lambda step, device, dram: memory)
    run, one, other = BoardRun(StepPlan({}, {}, {})), object(), object()

    def arrays(words: Sequence[int]) -> list[StoredArray]:
        meant = np.array([True, True, False])
        return [StoredArray("kernels", np.array(words, np.uint32), meant)]

    run.hold(one, arrays([1, 2, 3]))
    run.check_held(other, arrays([1, 2, 9]))
    run.hold(other, arrays([5, 5, 5]))
    assert memory.writes == ["kernels"], "memory holds the model of the step before"
    with pytest.raises(CheckFailed, match="kernels: memory does not hold the model"):
        run.check_held(one, arrays([1, 7, 3]))
    run.hold(one, arrays([1, 2, 3]))
    assert memory.writes == ["kernels"] * 2, "after a failure the model is written again"
