"""A prediction of an imported network on a picture is that of ONNX Runtime."""

from pathlib import Path

import numpy as np
from PIL import Image

import onnx_models as made
from needed_tools import needs
from terminal import Terminal

pytestmark = needs("onnx")
RELATIVE = 1e-5
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def coloured(folder: Path) -> Path:
    """A model that takes pictures of 12 x 10 pixels in three colours."""
    nodes = [
        made.node("Conv", "x conv1.weight conv1.bias", "a", pads=[1, 1, 1, 1]),
        made.node("Relu", "a", "b"),
        made.node("MaxPool", "b", "c", kernel_shape=[2, 2], strides=[2, 2]),
        made.node("Flatten", "c", "d"),
        made.node("Gemm", "d fc.weight fc.bias", "y", transB=1),
    ]
    sizes = {
        "conv1.weight": (6, 3, 3, 3),
        "conv1.bias": (6,),
        "fc.weight": (7, 180),
        "fc.bias": (7,),
    }
    constants = {name: made.numbers(*size) for name, size in sizes.items()}
    return made.saved(folder, made.model(nodes, constants, size=("N", 3, 12, 10)))


def test_an_imported_network_predicts_as_the_runtime_does(
    tmp_path: Path, terminal: Terminal
) -> None:
    import onnxruntime

    model = coloured(tmp_path)
    file, weights, picture = (tmp_path / name for name in ("net.toml", "w.npz", "p.png"))
    terminal.answer("import", model, "-o", file, "--weights", weights)
    pixels = np.random.default_rng(0).integers(0, 256, (12, 10, 3), np.uint8)
    Image.fromarray(pixels).save(picture)
    scale = [
        f"--{name}={','.join(map(str, each))}" for name, each in (("mean", MEAN), ("std", STD))
    ]
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    x = ((pixels / 255.0 - MEAN) / STD).transpose(2, 0, 1)[None].astype(np.float32)
    wanted = np.asarray(session.run(None, {"x": x})[0]).reshape(-1)
    for network, more in ((model, ()), (file, ("--weights", weights))):
        out = tmp_path / "out.npy"
        words = ("predict", network, *more, "--input", picture, *scale, "-o", out)
        (row,) = terminal.answer(*words)["predictions"]
        assert np.abs(np.load(out)[0] - wanted).max() <= RELATIVE * np.abs(wanted).max()
        assert row["top"][0]["class"] == int(wanted.argmax())
