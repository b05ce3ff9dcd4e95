"""List the verbs that write, with command lines on a tiny network for an old and a new output."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from merp.tools.common.stage import SUFFIX
from network_text import layer, max_pool, network_text

OUT = "out"
"""The folder that is written to, in the folder in which a command runs."""

LAYERS = network_text(
    "tiny",
    (6, 6, 1),
    layer("conv1", 2, kernel=2, pool=max_pool(2, 2), design="k2"),
    layer("conv2", 2, kernel=2, design="k2"),
    designs={"k2": {"k": 2, "n_cu": 1, "r": 1, "mul_latency": 1, "add_latency": 1}},
)

CLASSES = network_text(
    "classes",
    (4, 4, 1),
    layer("conv1", 2, kernel=2, pad=0, design="k2"),
    layer("fc2", 2, relu=False),
    designs={"k2": {"k": 2, "n_cu": 1, "r": 1}},
)

NEIGHBOUR = f"verify-float --op fused --taps 1 --rows 1 -o {OUT}/other.txt".split()
"""Another verb that writes to the same folder in every state."""


def write_inputs(folder: Path) -> None:
    """Write networks and data that the command lines name, as ``in`` next to their folder."""
    folder.mkdir()
    (folder / "tiny.toml").write_text(LAYERS)
    (folder / "classes.toml").write_text(CLASSES)
    draw = np.random.default_rng(0)
    np.savez(folder / "data.npz", images=draw.random((10, 4, 4, 1)), labels=np.arange(10) % 2)
    np.save(folder / "one.npy", draw.random((4, 4)))
    sizes = {"conv1.kernel": (2, 1, 2, 2), "conv1.bias": 2, "fc2.kernel": (2, 18, 1, 1),
             "fc2.bias": 2}  # fmt: skip
    np.savez(folder / "classes.npz", **{key: draw.random(size) for key, size in sizes.items()})
    for run in ("a", "b"):
        weights = draw.random((2, 16)).astype(np.float32)
        (folder / f"{run}.onnx").write_bytes(_model(weights))
        np.savez(folder / f"{run}-weights.npz", **{"fc-a.bias": weights[:, 0]})
        (folder / run).mkdir()
        losses = draw.random(4).tolist()
        (folder / run / "train.json").write_text(
            f'{{"network": "classes", "engine": "golden", "steps": 4, "batch": 4, "seed": 0, '
            f'"loss": {losses}, "accuracy": 0.5, "images": {{"trained": 8}}}}'
        )


def _model(weights: np.ndarray) -> bytes:
    """Return an ONNX model of one full connection."""
    from onnx import helper, numpy_helper

    node = helper.make_node("Gemm", ["x", "w"], ["y"], name="a", transB=1)
    size, classes = ([1, count] for count in reversed(weights.shape))
    values = [helper.make_tensor_value_info(*each) for each in (("x", 1, size), ("y", 1, classes))]
    constant = numpy_helper.from_array(weights, "w")
    graph = helper.make_graph([node], "one", values[:1], values[1:], [constant])
    opset = helper.make_opsetid("", 17)
    return helper.make_model(graph, opset_imports=[opset], ir_version=8).SerializeToString()


def _together(path: str) -> str:
    return ""


def _finished_apart(path: str) -> str:
    return path if path.startswith("finished/") else ""


@dataclass(frozen=True, kw_only=True)
class Verb:
    """A verb with an option that writes.

    Attributes:
        name: of the verb, and the option.
        new, old: command lines of two complete outputs, which differ.
        between: command lines of the outputs that a run commits before its last.
        writes: the file that it is given in the folder; "" if it is given the folder.
        needs_old: whether it continues from the old output.
        label: the set of a path.
        package: whether the set is a separate folder.
        mine: a file of the user amid the output, in addition to those in every folder.
        pairs: whether two parallel processes are tried.
    """

    name: str
    new: Sequence[str]
    old: Sequence[str]
    between: Sequence[Sequence[str]] = ()
    writes: str = ""
    needs_old: bool = False
    label: Callable[[str], str] = _together
    package: bool = False
    mine: str = "kept.txt"
    pairs: bool = False

    @property
    def hidden(self) -> str:
        """Name of the hidden folder."""
        return f".{self.writes}{SUFFIX}" if self.writes else SUFFIX


def _words(text: str) -> list[str]:
    return text.format(out=OUT, given="../in").split()


def _verb(name: str, always: str, new: str, old: str, **others: object) -> Verb:
    return Verb(
        name=name, new=_words(f"{always} {new}"), old=_words(f"{always} {old}"),
        **others,  # type: ignore[arg-type]
    )  # fmt: skip


_SIMULATE = "simulate {given}/tiny.toml"
_TRAIN = "train {given}/classes.toml --data {given}/data.npz --batch 4"
_SAVED = f"{_TRAIN} --save {{out}}/s.npz"
"""Two steps per epoch; an interrupt saves the finished steps."""

VERBS = (
    _verb(
        "simulate -o", f"{_SIMULATE} --layer all -o {{out}}", "--seed 1", "--seed 2",
        label=_finished_apart, mine="finished/kept.txt", pairs=True,
    ),
    _verb(
        "simulate --resume", f"{_SIMULATE} --layer all -o {{out}}", "--seed 1 --resume",
        "--seed 2", label=_finished_apart, mine="finished/kept.txt", pairs=True,
    ),
    _verb(
        "simulate --wave", f"{_SIMULATE} --layer conv1 --wave {{out}}/w.vcd", "--seed 1",
        "--seed 2 --wave-of layer", writes="w.vcd",
    ),
    _verb(
        "export -o", "export {given}/tiny.toml --layer conv1 -o {out}", "--clock 100",
        "--clock 50", package=True, mine="tiny-k2-fp/run/kept.log", pairs=True,
    ),
    _verb(
        "system -o", "system {given}/tiny.toml -o {out}/package", "--images 2", "--images 3",
        writes="package", package=True, mine="package/run/kept.log",
    ),
    _verb(
        "registers -o", "registers {given}/tiny.toml --layer conv1 -o {out}", "--images 2",
        "--images 3",
    ),
    _verb(
        "report -o", "report {given}/tiny.toml -o {out}/page.html", "--batch 2", "--batch 3",
        writes="page.html", mine="page-tables/kept.csv", pairs=True,
    ),
    _verb(
        "compare -o",
        "compare {given}/tiny.toml --architecture cnn-merp --fit shipped -o {out}/page.html",
        "--batch 2", "--batch 3", writes="page.html", mine="page-tables/kept.csv",
    ),
    _verb(
        "workload -o", "workload {given}/tiny.toml --format timeloop -o {out}", "--batch 2",
        "--batch 3",
    ),
    _verb(
        "sweep -o", "sweep {given}/tiny.toml --jobs 1 -o {out}", "--over n_cu=1,2",
        "--over n_cu=1,3", label=_finished_apart, mine="finished/kept.txt",
    ),
    _verb(
        "cluster -o", "cluster {given}/tiny.toml --devices 2 -o {out}", "--images 2",
        "--images 3",
    ),
    _verb(
        "explore -o", "explore {given}/tiny.toml --board kc705 --scope conv1 -o {out}",
        "--batch 2", "--batch 3",
    ),
    _verb(
        "plan -o", "plan --board kc705 -o {out}/n.toml", "{given}/tiny.toml",
        "{given}/classes.toml", writes="n.toml",
    ),
    _verb("train -o", f"{_TRAIN} -o {{out}}", "--steps 2", "--steps 1"),
    _verb(
        "train --save", _SAVED, "--epochs 3", "--epochs 1 --seed 5", writes="s.npz", pairs=True,
        between=[_words(f"{_SAVED} --steps {steps}") for steps in range(1, 6)],
    ),
    _verb(
        "train --resume", _SAVED, "--epochs 3 --resume {out}/s.npz", "--epochs 1", writes="s.npz",
        between=[_words(f"{_SAVED} --steps {steps}") for steps in range(3, 6)],
        needs_old=True, pairs=True,
    ),
    _verb("import -o", "import -o {out}/n.toml", "{given}/a.onnx", "{given}/b.onnx --partial",
          writes="n.toml"),
    _verb("import --weights", "import -o n.toml --weights {out}/w.npz", "{given}/a.onnx",
          "{given}/b.onnx", writes="w.npz"),
    _verb(
        "export-weights -o", "export-weights -o {out}/m.onnx",
        "{given}/a-weights.npz {given}/a.onnx", "{given}/b-weights.npz {given}/a.onnx",
        writes="m.onnx",
    ),
    _verb(
        "predict -o", "predict {given}/classes.toml --weights {given}/classes.npz -o {out}/p.npz",
        "--input {given}/data.npz", "--input {given}/one.npy", writes="p.npz",
    ),
    _verb("losses -o", "losses -o {out}/l.svg", "{given}/a", "{given}/b", writes="l.svg"),
    _verb(
        "verify-float -o", "verify-float --op fused --taps 2 --rows 20 -o {out}/v.txt", "--seed 1",
        "--seed 2", writes="v.txt",
    ),
)  # fmt: skip
