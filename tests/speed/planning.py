"""The plan of a network on a board: every tile of every layer and phase priced, the best found."""

from collections.abc import Iterator
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time

from measured import Seconds, best
from merp.models.machines.cnn_merp.plan.plan import plan
from merp.tools.cli import main
from merp.tools.common.boards import open_board
from merp.tools.common.shipped import open_network
from resnet50 import write_resnet50

LAYERS = 2000
VERBS = ("networks", "traffic", "plan --board kc705")


def figures() -> Iterator[Seconds]:
    """Seconds for each layer, on the KC705 with a batch of 128; then verbs of many layers."""
    board = open_board("kc705")
    for name in ("alexnet", "vgg16"):
        network = open_network(name)
        seconds = best(lambda network=network: plan(network, board), 20)
        yield Seconds(f"plan of {name}, a layer", seconds / len(network.layers))
    yield from _deep()
    yield from _resnet50()


def _deep() -> Iterator[Seconds]:
    """Processor time of verbs on a chain of many layers, Python's start left out."""
    head = '[network]\nname = "deep"\ninput = { rows = 32, columns = 32, channels = 16 }\n'
    layer = '[[layer]]\nname = "conv{}"\nmaps = 16\nkernel = 3\npad = 1\n'
    with TemporaryDirectory() as folder:
        file = Path(folder) / "deep.toml"
        file.write_text(head + "".join(map(layer.format, range(LAYERS))))
        for words in VERBS:
            verb, *options = words.split()
            seconds = _of_verb(verb, str(file), *options)
            yield Seconds(f"{verb}, {LAYERS:,} layers", seconds, "processor time")


def _resnet50() -> Iterator[Seconds]:
    """Processor time from the model to a plan, and to the designs that no other one beats."""
    with TemporaryDirectory() as folder:
        model, file = Path(folder) / "resnet50.onnx", str(Path(folder) / "resnet50.toml")
        write_resnet50(model)
        seconds = _of_verb("import", str(model), "-o", file)
        seconds += _of_verb("plan", file, "--board", "zc706")
        yield Seconds("import and plan of ResNet-50", seconds, "processor time")
        seconds = _of_verb("explore", file, "--board", "zc706")
        yield Seconds("explore of ResNet-50", seconds, "processor time")


def _of_verb(*words: str) -> float:
    """Processor time of a command line, its output left out."""
    began = process_time()
    with redirect_stdout(StringIO()):
        main(list(words))
    return process_time() - began
