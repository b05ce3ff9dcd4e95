"""``merp simulate -o`` that is interrupted within a layer: finished passes do not run again."""

import json
import shlex
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marks import in_full
from merp.cosim.engines.job import Job, Runs
from merp.cosim.phases.audit import run_and_audit
from merp.tools.cli import main
from merp.tools.common.output import Output
from merp.tools.common.progress import Progress
from merp.tools.common.seal import SEAL, sealed
from merp.tools.simulate.kept_files import KeptFiles
from network_text import layer, max_pool, network_text

GROUPS = network_text(
    "groups",
    (4, 3, 3),
    layer("conv1", 3, kernel=2, groups=3, design="k2"),
    layer("conv2", 3, kernel=2, groups=3, design="k2"),
    layer("fc3", 2, relu=False),
    designs={"k2": {"k": 2, "n_cu": 1, "r": 1, "mul_latency": 1, "add_latency": 2}},
)

ARRAY = network_text(
    "array",
    (4, 4, 1),
    layer("conv1", 2, kernel=3, pad=1, pool=max_pool(2, 2), design="array"),
    layer("fc2", 2, relu=False, design="array"),
    designs={"array": {"architecture": "mac-array", "pox": 4, "poy": 4, "pof": 4}},
    format="fixed16",
    rounding="stochastic",
)


@pytest.fixture
def simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, int, str]]:
    """Run ``merp``; how many runs the engine began, the status, and what was said.

    An interrupt strikes before the run of number ``strikes``.
    """
    (tmp_path / "groups.toml").write_text(GROUPS)
    (tmp_path / "array.toml").write_text(ARRAY)

    def run(*words: object, strikes: int = 0) -> tuple[int, int, str]:
        count = 0

        def counted(runs: Runs) -> Runs:
            nonlocal count
            record = None
            while True:
                try:
                    each = runs.send(record)
                except StopIteration:
                    return
                count += 1
                if count == strikes:
                    raise KeyboardInterrupt
                record = yield each

        def run_job(job: Job, *rest: Any) -> Any:
            assert not isinstance(job.runs, list | tuple)
            return whole(replace(job, runs=counted(job.runs)), *rest)

        whole = run_and_audit.run_job
        with monkeypatch.context() as patch:
            patch.setattr(run_and_audit, "run_job", run_job)
            status = main([str(word) for word in words])
        return count, status, capsys.readouterr().err

    return run


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[int]]:
    """Record the cycles that ``passed`` and ``kept`` of the line of progress get."""
    told: dict[str, list[int]] = {"passed": [], "kept": []}
    for name in told:
        monkeypatch.setattr(Progress, name, lambda self, each, to=name: told[to].append(each))
    return told


def answer(folder: Path) -> Any:
    """What ``simulate.json`` says, but for seconds."""

    def timeless(value: dict[str, Any]) -> dict[str, Any]:
        return {key: each for key, each in value.items() if "seconds" not in key}

    return json.loads((folder / "simulate.json").read_text(), object_hook=timeless)


def assert_equal(folder: Path, other: Path) -> None:
    """Two folders hold equal answers, pictures, and arrays."""
    files = sorted(path.relative_to(folder) for path in folder.rglob("*.*"))
    assert files == sorted(path.relative_to(other) for path in other.rglob("*.*"))
    assert answer(folder) == answer(other)
    for file in files:
        if file.suffix == ".png":
            assert (folder / file).read_bytes() == (other / file).read_bytes()
        elif file.suffix == ".npz":
            with np.load(folder / file) as ours, np.load(other / file) as theirs:
                assert ours.files == theirs.files
                if "outputs" in ours:
                    assert np.array_equal(ours["outputs"], theirs["outputs"])


RUNS = {
    "two of three groups": ("groups.toml", "fp", 1, 3, 2, 2),
    "groups of the second layer": ("groups.toml", "fp", 1, 5, 2, 4),
    "groups on the way back": ("groups.toml", "all", 2, 8, 3, 7),
    "one of two images": ("array.toml", "all", 2, 7, 5, 6),
}
"""Network, phase, images, the run that is struck, what is saved, and the runs that it spares."""


FULL = ("groups of the second layer", "one of two images")


@pytest.mark.parametrize("name", [*(each for each in RUNS if each not in FULL), *in_full(*FULL)])
def test_a_run_that_ends_within_a_layer_goes_on_behind_its_last_pass(
    name: str,
    simulated: Callable[..., tuple[int, int, str]],
    told: dict[str, list[int]],
    tmp_path: Path,
) -> None:
    network, phase, images, strikes, saved, spared = RUNS[name]
    words = ["simulate", tmp_path / network, "--layer", "all", "--phase", phase, "--images", images]
    count, status, _ = simulated(*words, "-o", tmp_path / "whole")
    assert status == 0
    cycles = sum(told["passed"])
    assert told["kept"] == []
    _, status, said = simulated(*words, "-o", tmp_path / "part", strikes=strikes)
    said, _, command = said.strip().partition("; go on with: ")
    assert status == 130
    assert said.endswith(f"part: finished parts saved: {saved}")
    # Without --resume nothing is taken.
    assert simulated(*words, "-o", tmp_path / "part", strikes=1) == (1, 130, "")
    told |= {"passed": [], "kept": []}
    again, status, said = simulated(*shlex.split(command)[1:])
    assert (again, status, said) == (count - spared, 0, "")
    # What runs has cycles of reset and of the first words too, which the model does not expect.
    spared_cycles = cycles - sum(told["passed"])
    assert 0.8 * spared_cycles <= sum(told["kept"]) <= spared_cycles
    assert_equal(tmp_path / "part", tmp_path / "whole")


def test_of_an_image_that_is_not_finished_the_array_keeps_nothing(
    simulated: Callable[..., tuple[int, int, str]], tmp_path: Path
) -> None:
    words = ["simulate", tmp_path / "array.toml", "--layer", "all", "-o", tmp_path / "part"]
    assert simulated(*words, strikes=2) == (2, 130, "")
    assert not (tmp_path / "part").exists()


def emptied(first: Path, second: Path) -> None:
    first.write_bytes(b"")


def passed_off(first: Path, second: Path) -> None:
    shutil.copy(second, first)


def widened(first: Path, second: Path) -> None:
    """As large as all groups, under a seal of its own."""
    with np.load(first) as data:
        arrays = {key: data[key] for key in data.files if key != SEAL}
    outputs = np.concatenate([arrays["outputs"]] * 3, axis=-1)
    first.write_bytes(sealed(arrays | {"outputs": outputs}))


@pytest.mark.full
def test_passes_that_are_not_as_they_were_kept_or_of_another_run_run_again(
    simulated: Callable[..., tuple[int, int, str]], tmp_path: Path
) -> None:
    words = ["simulate", tmp_path / "groups.toml", "--layer", "all"]
    assert simulated(*words, "-o", tmp_path / "whole")[:2] == (6, 0)
    assert simulated(*words, "-o", tmp_path / "part", strikes=3)[1] == 130
    for damage in (emptied, passed_off, widened):
        folder = tmp_path / damage.__name__
        shutil.copytree(tmp_path / "part", folder)
        kept = folder / "finished" / "conv1-fp-0.npz"
        damage(kept, folder / "finished" / "conv1-fp-1.npz")
        said = f"merp: --resume: {kept}: damaged: conv1 fp group 0 runs again\n"
        assert simulated(*words, "-o", folder, "--resume") == (5, 0, said)
        assert_equal(folder, tmp_path / "whole")
    other = (*words, "--seed", 1)
    assert simulated(*other, "-o", tmp_path / "part", "--resume") == (6, 0, "")
    assert simulated(*other, "-o", tmp_path / "other") == (6, 0, "")
    assert_equal(tmp_path / "part", tmp_path / "other")


def test_a_place_that_cannot_take_a_pass_is_refused_before_the_work(
    simulated: Callable[..., tuple[int, int, str]], tmp_path: Path
) -> None:
    place = tmp_path / "out" / "finished" / "conv2-fp-2.npz"
    place.mkdir(parents=True)
    words = ["simulate", tmp_path / "groups.toml", "--layer", "all", "-o", tmp_path / "out"]
    count, status, said = simulated(*words)
    assert (count, status) == (0, 2)
    assert f"cannot be written: {place} is a folder" in said


def test_what_is_in_its_place_when_the_interrupt_comes_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = []
    for moment in ("before", "behind"):
        with Output.of_folder("-o", tmp_path / moment) as output, monkeypatch.context() as patch:
            kept = KeptFiles(output, "", False, said.append)
            commit = output.commit

            def struck(moment: str = moment, commit: Callable[[], None] = commit) -> None:
                if moment == "behind":
                    commit()
                raise KeyboardInterrupt

            patch.setattr(output, "commit", struck)
            with pytest.raises(KeyboardInterrupt):
                kept.save("conv1-fp-0.npz", ("conv1", "fp", 0), {}, {})
            said.append(kept.said())
    assert said == ["", f"-o {tmp_path / 'behind'}: finished parts saved: 1"]
