"""A set over two places is old or new in both, whenever it is killed and whoever comes next."""

import errno
import os
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from merp.models.base.errors import BadInput
from merp.tools import cli
from merp.tools.common import stage
from merp.tools.common.output import Output, commit_together

NAMES = ("net/n.toml", "weights/w.npz")


class Killed(BaseException):
    """Nothing after it runs."""


def mortal(patch: pytest.MonkeyPatch, moment: int, error: BaseException) -> None:
    """Raise ``error`` at one of the changes that a writer makes, by number."""
    calls = 0

    def counted(function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == moment:
                raise error
            return function(*arguments)

        return call

    patch.setattr(os, "replace", counted(os.replace))
    patch.setattr(Path, "rename", counted(Path.rename))
    patch.setattr(stage, "_sync", counted(stage._sync))
    patch.setattr(shutil, "rmtree", counted(shutil.rmtree))


def places(root: Path) -> list[Path]:
    found = [root / name for name in NAMES]
    for path in found:
        path.parent.mkdir(parents=True, exist_ok=True)
    return found


def texts(root: Path) -> list[str]:
    return [path.read_text() for path in places(root)]


def held_files(held: ExitStack, root: Path) -> list[Output]:
    return [held.enter_context(Output.of_file("-o", path)) for path in places(root)]


def write(root: Path, text: str) -> None:
    with ExitStack() as held:
        outputs = held_files(held, root)
        for output in outputs:
            output.add({output.name: text})
        commit_together(outputs)


@pytest.mark.sample(2)
@pytest.mark.parametrize("next_at", [(0,), (1,), (1, 0)])
@pytest.mark.parametrize("together", [False, True])
def test_both_are_old_or_new_whenever_it_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, next_at: tuple[int, ...], together: bool
) -> None:
    """Each next run is at one place; what it finds there says what the other place becomes."""
    if together:  # in one folder
        monkeypatch.setitem(globals(), "NAMES", ("n.toml", "w.npz"))
    seen, moment, alive = set(), 0, False
    while not alive:
        moment += 1
        root = tmp_path / str(moment)
        write(root, "old")
        held = ExitStack()
        outputs = held_files(held, root)
        for output in outputs:
            output.add({output.name: "new"})
        alive = True
        with monkeypatch.context() as patch:
            mortal(patch, moment, Killed())
            try:
                commit_together(outputs)
            except Killed:
                alive = False
        for output in outputs:  # the kernel closes them
            os.close(output._stage._lock)
        for place in next_at:
            with Output.of_file("-o", places(root)[place]):
                pass
        first = texts(root)[next_at[-1]]
        with Output.of_file("-o", places(root)[1 - next_at[-1]]):
            pass
        assert texts(root) == [first, first]
        assert not list(root.rglob("*.merp-draft"))
        seen.add(first)
    assert seen == {"old", "new"}
    assert moment > 10


def test_a_writer_that_was_interrupted_can_write_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As training does: what it saves upon an interrupt follows what the interrupt struck."""
    moment, struck = 0, True
    while struck:
        moment += 1
        root = tmp_path / str(moment)
        write(root, "old")
        with ExitStack() as held:
            outputs = held_files(held, root)
            struck = False
            with monkeypatch.context() as patch:
                mortal(patch, moment, KeyboardInterrupt())
                try:
                    for output in outputs:
                        output.add({output.name: "new"})
                    commit_together(outputs)
                except KeyboardInterrupt:
                    struck = True
            for output in outputs:
                output.add({output.name: "last"})
            commit_together(outputs)
        assert texts(root) == ["last", "last"]
        assert not list(root.rglob("*.merp-draft"))
    assert moment > 10


def test_a_disk_that_fails_leaves_both_or_the_next_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, moment, failed = set(), 0, True
    while failed:
        moment += 1
        root = tmp_path / str(moment)
        write(root, "old")
        with monkeypatch.context() as patch:
            mortal(patch, moment, OSError(errno.EIO, "Input/output error"))
            try:
                write(root, "new")
                failed = False
            except BadInput:
                assert failed
        for path in places(root):
            with Output.of_file("-o", path):
                pass
        assert len(set(texts(root))) == 1
        seen.update(texts(root))
    assert seen == {"old", "new"}


def test_what_stands_in_the_way_of_one_is_in_the_way_of_both(tmp_path: Path) -> None:
    write(tmp_path, "old")
    with ExitStack() as held:
        outputs = held_files(held, tmp_path)
        for output in outputs:
            output.add({output.name: "new"})
        second = places(tmp_path)[1]
        second.unlink()
        second.mkdir()
        with pytest.raises(BadInput, match="is a folder"):
            commit_together(outputs)
    assert places(tmp_path)[0].read_text() == "old"


def test_a_second_writer_of_either_place_is_refused(tmp_path: Path) -> None:
    with ExitStack() as held:
        held_files(held, tmp_path)
        for path in places(tmp_path):
            with pytest.raises(BadInput, match="another merp is writing there"):
                Output.of_file("-o", path).__enter__()


def test_an_import_is_one_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The network never goes with the weights of another model."""
    from onnx import TensorProto, helper

    def model(value: float) -> str:
        weights = helper.make_tensor("w", TensorProto.FLOAT, [2, 4], [value] * 8)
        ends = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, size])
            for name, size in (("x", 4), ("y", 2))
        ]
        node = helper.make_node("Gemm", ["x", "w"], ["y"], name=f"a{value:.0f}", transB=1)
        graph = helper.make_graph([node], "one", ends[:1], ends[1:], [weights])
        opset = [helper.make_opsetid("", 17)]
        path = tmp_path / f"{value:.0f}.onnx"
        path.write_bytes(
            helper.make_model(graph, opset_imports=opset, ir_version=8).SerializeToString()
        )
        return str(path)

    places(tmp_path)
    outputs = ["-o", str(tmp_path / NAMES[0]), "--weights", str(tmp_path / NAMES[1])]
    assert cli.main(["import", model(1), *outputs]) == 0
    before = [path.read_bytes() for path in places(tmp_path)]
    changed = set()
    for moment in range(1, 100):
        with monkeypatch.context() as patch:
            mortal(patch, moment, KeyboardInterrupt())
            status = cli.main(["import", model(2), *outputs])
        after = [path.read_bytes() for path in places(tmp_path)]
        changed.add(tuple(a != b for a, b in zip(after, before, strict=True)))
        if status == 0:
            break
    assert changed <= {(False, False), (True, True)}
    assert (True, True) in changed
