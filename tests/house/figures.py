"""Figures of the package's structure: ``python tests/house/figures.py`` prints them, one a row.

They show how far a change spreads: which code knows the name of a phase or of a machine, how many
imports tie the rooms together, and how large functions and files are. All but the walk come from
the syntax trees of the package; the walk runs ``merp simulate``. ``--json`` prints all values by
name, ``--details FIGURE`` prints the places that a figure counts.

A *room* is a folder or file directly below ``models``, ``hdl``, ``cosim`` or ``tools``. The rooms
of a machine are all folders and files whose path has one of its words (``MACHINES``).
"""

import argparse
import ast
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from checkout import ROOT

TREES = ("hdl", "models", "cosim", "testbenches", "tools")
PHASES = frozenset({"fp", "dp", "ku", "bp", "ff"})
PHASE_CONSTANTS = frozenset({"ONE_PASS", "PAIR"})
MACHINES: Mapping[str, tuple[str, ...]] = {
    "cnn-merp": ("cnn_merp",),
    "mac-array": ("mac_array",),
    "pipeline": ("pipeline", "mazouz"),
    "chain": ("chain", "cluster", "fpdeep"),
    "fcnn": ("fcnn",),
}
"""Words in the paths of a machine's rooms, and in what imports them."""

LONG, VERY_LONG, PARAMETERS = 150, 200, 10
TOPS = {
    name: f"hdl/cnn_merp/phases/{name}.py"
    for name in ("forward", "delta", "kernel_update", "backward")
}


@dataclass(frozen=True)
class Source:
    """A module of the package: its path below the root, its text and its tree."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def room(self) -> str:
        """The folder or file below its tree, without the ending."""
        return Path(self.path.parts[1]).stem

    def belongs_to(self, machine: str) -> bool:
        """Whether it is in a room of ``machine``."""
        return any(word in part for part in self.path.parts for word in MACHINES[machine])


@cache
def tracked(*folders: str) -> tuple[Path, ...]:
    """The files below these folders that git tracks."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", *folders], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return tuple(Path(name) for name in listed.stdout.split("\0") if (ROOT / name).is_file())


@cache
def package() -> tuple[Source, ...]:
    """All modules of the package."""
    return tuple(
        Source(path, text, ast.parse(text))
        for path in tracked(*TREES)
        if path.suffix == ".py"
        for text in [(ROOT / path).read_text()]
    )


def names_phase(node: ast.expr) -> bool:
    """Whether an operand is the name of a phase, or has one among its elements."""
    match node:
        case ast.Constant(value=str(text)):
            return text in PHASES
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name in PHASE_CONSTANTS
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return any(map(names_phase, parts))
    return False


def phase_comparisons() -> Iterator[str]:
    """Comparisons with a phase's name outside the rooms of all machines."""
    for source in package():
        if any(map(source.belongs_to, MACHINES)):
            continue
        for node in ast.walk(source.tree):
            match node:
                case ast.Compare(left=left, comparators=others):
                    found = any(map(names_phase, (left, *others)))
                case ast.match_case(pattern=pattern):
                    found = any(
                        isinstance(part, ast.MatchValue) and names_phase(part.value)
                        for part in ast.walk(pattern)
                    )
                case _:
                    found = False
            if found:
                line = node.pattern.lineno if isinstance(node, ast.match_case) else node.lineno
                yield f"{source.path}:{line}"


def is_folder(module: str) -> bool:
    """Whether a module of the package is a folder: what one imports from it are modules."""
    return (ROOT / Path(*module.split(".")[1:])).is_dir()


def bound(tree: ast.Module, words: Sequence[str]) -> Iterator[str]:
    """Names that are not a machine's: local variables, and imports from outside its rooms."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.ImportFrom(module=str(module), names=aliases):
                if not any(word in part for part in module.split(".") for word in words):
                    yield from (alias.asname or alias.name for alias in aliases)


def names_machine(source: Source, machine: str) -> bool:
    """Whether a module imports a room of a machine, or has its name as an identifier or a text.

    A local variable does not count, nor what another module calls so, such as ``itertools.chain``.
    """
    words = MACHINES[machine]
    exact = {machine, *words, *("".join(w.capitalize() for w in x.split("_")) for x in words)}
    others = set(bound(source.tree, words))
    for node in ast.walk(source.tree):
        match node:
            case ast.ImportFrom(module=str(module)) if module.startswith("merp."):
                modules = node.names if is_folder(module) else ()
                names = [*module.split("."), *(alias.name for alias in modules)]
            case ast.Name(id=name) if name in others:
                continue
            case ast.Import(names=aliases):
                names = [part for alias in aliases for part in alias.name.split(".")]
            case ast.Constant(value=str(text)):
                names = [text]
            case ast.Name(id=name) | ast.Attribute(attr=name):
                names = [name]
            case _:
                continue
        if exact.intersection(names):
            return True
    return False


def naming(machine: str) -> Iterator[str]:
    """Modules outside a machine's rooms that name it."""
    for source in package():
        if not source.belongs_to(machine) and names_machine(source, machine):
            yield str(source.path)


def imported(source: Source) -> Iterator[Path]:
    """Modules and folders of the package that a module imports, below the root."""
    for node in ast.walk(source.tree):
        match node:
            case ast.ImportFrom(module=str(module)) if module.startswith("merp."):
                yield Path(*module.split(".")[1:])
                for alias in node.names:
                    yield Path(*module.split(".")[1:], alias.name)
            case ast.Import(names=aliases):
                for alias in aliases:
                    if alias.name.startswith("merp."):
                        yield Path(*alias.name.split(".")[1:])


def arrows_of(tree: str) -> dict[str, set[str]]:
    """Of each room of a tree, the other rooms of that tree that it imports."""
    rooms = {source.room for source in package() if source.path.parts[0] == tree}
    found: dict[str, set[str]] = {room: set() for room in rooms}
    for source in package():
        if source.path.parts[0] == tree and len(source.path.parts) > 1:
            for path in imported(source):
                if path.parts[0] == tree and len(path.parts) > 1 and path.parts[1] in rooms:
                    found[source.room].add(path.parts[1])
    return {room: others - {room} for room, others in found.items()}


def arrows(tree: str) -> Iterator[str]:
    """Arrows between the rooms of a tree; the inside of hdl's machines is seen, too."""
    yield from (f"{room} -> {x}" for room, others in arrows_of(tree).items() for x in others)
    if tree == "hdl":
        for inner in ("cnn_merp", "mac_array"):
            yield from inner_arrows(inner)


def inner_arrows(folder: str) -> Iterator[str]:
    """Arrows between the rooms of one machine in ``hdl``."""
    found = set()
    for source in package():
        if source.path.parts[:2] == ("hdl", folder) and len(source.path.parts) > 3:
            for path in imported(source):
                if path.parts[:2] == ("hdl", folder) and len(path.parts) > 2:
                    found.add((source.path.parts[2], path.parts[2]))
    yield from (f"{folder}.{one} -> {folder}.{other}" for one, other in found if one != other)


def circles(tree: str) -> Iterator[str]:
    """Rooms of a tree that reach themselves."""
    direct = arrows_of(tree)
    for room in direct:
        reached, ahead = set(), list(direct[room])
        while ahead:
            other = ahead.pop()
            if other not in reached:
                reached.add(other)
                ahead += direct.get(other, ())
        if room in reached:
            yield f"{tree}: {room}"


def functions() -> Iterator[tuple[Source, ast.FunctionDef]]:
    """All functions and methods of the package."""
    for source in package():
        for node in ast.walk(source.tree):
            if isinstance(node, ast.FunctionDef):
                yield source, node


def lines_of(function: ast.FunctionDef) -> int:
    """Lines of a function without its docstring."""
    count = (function.end_lineno or function.lineno) - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        count -= (first.end_lineno or first.lineno) - first.lineno + 1
    return count


def parameters_of(function: ast.FunctionDef) -> int:
    """Parameters of a function, of all kinds."""
    arguments = function.args
    return len(arguments.posonlyargs) + len(arguments.args) + len(arguments.kwonlyargs)


def longer(least: int) -> Iterator[str]:
    """Functions of more than ``least`` lines."""
    for source, node in functions():
        if lines_of(node) > least:
            yield f"{source.path}:{node.lineno} {node.name}: {lines_of(node)}"


def wider(least: int) -> Iterator[str]:
    """Functions of more than ``least`` parameters."""
    for source, node in functions():
        if parameters_of(node) > least:
            yield f"{source.path}:{node.lineno} {node.name}: {parameters_of(node)}"


def top_parameters() -> Iterator[str]:
    """Parameters of CNN-MERP's four tops."""
    for name, path in TOPS.items():
        for source, node in functions():
            if str(source.path) == path and node.name == name:
                yield f"{name}: {parameters_of(node)}"


def lines(paths: Sequence[Path]) -> int:
    """Lines of some files."""
    return sum((ROOT / path).read_text().count("\n") for path in paths)


def classes_of_one_name() -> Iterator[str]:
    """Class names that the package defines more than once."""
    counted = Counter(
        node.name
        for source in package()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    yield from (f"{name}: {count}" for name, count in counted.items() if count > 1)


def optional_ports() -> Iterator[str]:
    """``is not None`` in the hardware of CNN-MERP."""
    for source in package():
        if source.path.parts[:2] == ("hdl", "cnn_merp"):
            for number, line in enumerate(source.text.splitlines(), start=1):
                for _ in re.finditer(r"\bis not None\b", line):
                    yield f"{source.path}:{number}"


def bulk() -> list[Path]:
    """Pages of blocks, and the list of planted faults."""
    pages = [path for path in tracked("docs/blocks") if path.suffix == ".md"]
    return [*pages, *tracked("tests/mutants/mutants.toml")]


PLACES: Mapping[str, Callable[[], Iterator[str]]] = {
    "comparisons with a phase's name outside the machines": phase_comparisons,
    **{
        f"files outside {machine} that name it": lambda machine=machine: naming(machine)
        for machine in MACHINES
    },
    **{
        f"arrows between rooms of {tree}": lambda tree=tree: arrows(tree)
        for tree in ("models", "cosim", "tools", "hdl")
    },
    "rooms in circles": lambda: (each for tree in TREES for each in circles(tree)),
    f"functions above {LONG} lines": lambda: longer(LONG),
    f"functions above {VERY_LONG} lines": lambda: longer(VERY_LONG),
    f"functions above {PARAMETERS} parameters": lambda: wider(PARAMETERS),
    "class names defined more than once": classes_of_one_name,
    "'is not None' in hdl/cnn_merp": optional_ports,
}
"""Of each figure that counts places, the places."""


def figures() -> dict[str, object]:
    """Every figure by its name."""
    found: dict[str, object] = {name: len(list(places())) for name, places in PLACES.items()}
    from walk import summary  # it imports this module

    found["walk of merp simulate"] = summary()
    found["parameters of the tops"] = "; ".join(top_parameters())
    found["lines of Python, package"] = lines([each.path for each in package()])
    found["lines of Python, tests"] = lines([p for p in tracked("tests") if p.suffix == ".py"])
    found["lines of docs/blocks and mutants.toml"] = lines(bulk())
    return found


def main() -> int:
    """Print the figures, or the places that one counts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0], allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="values by name")
    parser.add_argument("--details", metavar="FIGURE", choices=PLACES, help=", ".join(PLACES))
    args = parser.parse_args()
    if args.details:
        print("\n".join(sorted(PLACES[args.details]())))
    elif args.json:
        print(json.dumps(figures(), indent=1))
    else:
        for name, value in figures().items():
            print(f"{name:55} {value}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
