"""Nothing that a verb leaves behind is written but by the one writer."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkout import ROOT

WRITERS = {
    "tools/common/output.py": "the writer",
    "tools/common/stage.py": "how the writer's sets take their place",
    "tools/common/owned.py": "manifests of drafts of the writer",
    "tools/fpga/export/package.py": "fills a draft of the writer",
    "tools/fpga/system/system_package.py": "fills a draft of the writer",
    "tools/fpga/system/driver.py": "fills a draft of the writer",
    "tools/fpga/system/vivado.py": "fills a draft of the writer",
    "tools/fpga/system/litex_target.py": "fills a draft of the writer",
    "tools/fpga/litex/bitstream.py": "fills a draft of the writer, and an entry of the cache",
    "tools/fpga/litex/simulate.py": "fills an entry of the cache",
    "tools/data/export/litex/soc.py": "a script of a package, in a folder that the caller gives",
    "cosim/board/uio.py": "files of a device",
    "cosim/phases/audit/vectors.py": "fills a draft of the writer",
    "cosim/engines/programs/scratch.py": "temporary folders",
    "cosim/engines/programs/build_cache.py": "the cache of executables and netlists",
    "cosim/board/build.py": "fills an entry of the cache",
    "cosim/board/dram.py": "fills an entry of the cache",
    "cosim/engines/known_builds.py": "fills an entry of the cache",
    "cosim/engines/verilator_build.py": "fills an entry of the cache",
    "cosim/engines/verilator_twins.py": "a folder that the caller gives, of a build",
    "cosim/engines/ghdl_engine.py": "a folder that goes with the run",
    "cosim/engines/axi_engine.py": "a folder that goes with the run",
    "cosim/synthesis/routing.py": "fills an entry of the cache",
    "cosim/synthesis/synthesis.py": "fills an entry of the cache",
    "tools/fpga/bench/simulate.py": "a folder that the caller gives, of a test",
    "tools/common/streams.py": "standard streams, not files",
    "cosim/block/replay.py": "a folder that the caller gives, of a test",
    "cosim/engines/cocotb_run.py": "a folder that the caller gives, of a test",
    "cosim/board/rtl_board.py": "a folder that the caller gives, of a test",
    "cosim/block/formal.py": "a folder that the caller gives, of a test",
}
NAMES = {
    *("write_text", "write_bytes", "mkdir", "makedirs", "touch", "symlink_to", "hardlink_to"),
    *("rename", "renames", "unlink", "rmdir", "rmtree", "move", "copy2", "copyfile", "copytree"),
    *("save", "savez", "savez_compressed", "savetxt", "tofile", "mkfifo", "truncate"),
}
"""Calls that change a file system, whatever they are called on."""

IN_MEMORY = ("BytesIO()", "io.StringIO()")
FILES = sorted(path for tree in ("cosim", "tools") for path in (ROOT / tree).rglob("*.py"))


def written(source: str) -> Iterator[str]:
    """Each call in a text that writes a file, as it stands there."""
    for scope in ast.walk(ast.parse(source)):
        if not isinstance(scope, ast.FunctionDef | ast.Module):
            continue
        buffers = {
            target.id
            for node in ast.walk(scope)
            if isinstance(node, ast.Assign) and ast.unparse(node.value) in IN_MEMORY
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in _own(scope):
            if isinstance(node, ast.Call) and _writes(node, buffers):
                yield ast.unparse(node)


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a scope without those of the functions in it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef):
            yield child
            yield from _own(child)


def _writes(call: ast.Call, buffers: set[str]) -> bool:
    function = call.func
    owner = ast.unparse(function.value) if isinstance(function, ast.Attribute) else ""
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    if name in ("savez", "savefig") or (owner, name) == (
        "np",
        "save",
    ):  # into memory, they write no file
        first = call.args[0] if call.args else None
        return not (isinstance(first, ast.Name) and first.id in buffers)
    if name == "open":
        given = [*call.args, *(each.value for each in call.keywords)]
        modes = [each.value for each in given if isinstance(each, ast.Constant)]
        return any(isinstance(mode, str) and set(mode) & set("wax+") for mode in modes)
    if name == "replace":
        return owner == "os"
    return name in NAMES and not (name == "save" and owner != "np")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_the_writer_writes(path: Path) -> None:
    if str(path.relative_to(ROOT)) not in WRITERS:
        assert list(written(path.read_text())) == []


@pytest.mark.parametrize("name", WRITERS)
def test_each_exception_is_one(name: str) -> None:
    assert list(written((ROOT / name).read_text()))


@pytest.mark.parametrize(
    "line",
    [
        'open("x", "w")', 'path.open("ab")', 'path.open(mode="x")', 'path.write_text("")',
        'np.savez(path, a=1)', 'figure.savefig(path)', 'os.replace(a, b)', 'path.mkdir()',
    ],
)  # fmt: skip
def test_a_plain_call_is_found(line: str) -> None:
    assert list(written(f"def f(path):\n    {line}\n"))


def test_reading_and_memory_are_not() -> None:
    text = "def f(path):\n    open(path)\n    b = BytesIO()\n    np.savez(b)\n    s.replace(1, 2)\n"
    assert list(written(text)) == []
