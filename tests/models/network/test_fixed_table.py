"""Fixed point in a network file: fractions, rounding, designs of the MAC array, and refusals."""

from pathlib import Path

import pytest

from merp.models.base.errors import BadInput
from merp.models.base.fixed import FixedFormat, Fractions
from merp.models.machines.mac_array.params.design import ArrayDesign
from merp.models.network.network import Network
from merp.tools.common.shipped import open_network

HEAD = (
    '[network]\nname = "t"\nformat = "fixed16"\ninput = { rows = 12, columns = 12, channels = 3 }\n'
)
LAYER = '[[layer]]\nname = "conv1"\nmaps = 6\nkernel = 3\npad = 1\ndesign = "a"\n'
DESIGN = '[design.a]\narchitecture = "mac-array"\npof = 4\n'
FC = '[[layer]]\nname = "fc2"\nmaps = 10\nrelu = false\ndesign = "a"\n'


def read(folder: Path, text: str) -> Network:
    path = folder / "t.toml"
    path.write_text(text)
    return open_network(str(path))


def test_fractions_of_all_and_of_a_layer(tmp_path: Path) -> None:
    head = HEAD.replace('"fixed16"\n', '"fixed16"\nrounding = "stochastic"\n')
    text = head + "[fractions]\ninput = 9\nkernel = 12\n" + LAYER
    text += "fractions = { delta = 3 }\n" + FC + DESIGN
    network = read(tmp_path, text)
    assert network.numbers == FixedFormat(
        input=9,
        usual=Fractions(kernel=12),
        layers={"conv1": Fractions(kernel=12, delta=3)},
        rounding="stochastic",
    )
    design = network.design(network.layers[0])
    assert isinstance(design, ArrayDesign)
    assert (design.stochastic, design.momentum, design.loss) == (True, True, True)


def test_maxima_follow_from_the_layers(tmp_path: Path) -> None:
    network = read(tmp_path, HEAD + LAYER + "pool = { kind = 'max', window = 4 }\n" + FC + DESIGN)
    design = network.design(network.layers[0])
    assert isinstance(design, ArrayDesign)
    assert (design.max_kernel, design.pool_window, design.max_size) == (3, 4, 12)
    assert design.kernel_words == 3 * 6 * 9  # of fc2: three tiles of four classes, 3 x 3 maps
    assert design.mask_words == design.index_words == 6 * 3
    assert design.delta_words == 12 * 2
    assert design.max_maps == 10


def test_a_shipped_design_is_that_of_the_paper() -> None:
    network = open_network("cifar10-1x-fixed")
    (design,) = network.designs.values()
    assert isinstance(design, ArrayDesign)
    assert (design.macs, design.max_kernel, design.kernel_words) == (1024, 4, 4 * 64 * 9)
    masks = (16 * 32 * 4, 16 * 16 * 2, 32 * 16 * 2, 32 * 8, 64 * 8, 64 * 4)
    assert design.mask_words == sum(masks)


LARGE = LAYER.replace("kernel = 3\npad = 1", "kernel = 11\npad = 0")
ROUNDING_ELSEWHERE = HEAD.replace('format = "fixed16"\n', 'rounding = "nearest"\n') + LAYER


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD + LAYER + DESIGN.replace("4", "12"),
         "design a: pof must be one of 4, 8, 16, 32, 64, not 12"),
        (HEAD + LAYER + DESIGN + "pox = 6\n", "design a: pox must be one of 4, 8, 16, not 6"),
        (HEAD + LAYER + DESIGN + "balance = 1\n", "design a: balance = 1: must be true or false"),
        (HEAD + LAYER + DESIGN + "n_cu = 1\n", "design a: unknown key 'n_cu'"),
        (HEAD + LAYER + DESIGN.replace("pof = 4\n", ""), "design a: pof is missing"),
        (HEAD + LAYER + "pool = { kind = 'max', window = 3 }\n" + DESIGN,
         "design a: pool_window must be one of 1, 2, 4, 8, 16, not 3"),
        (HEAD + LAYER + "pool = { kind = 'max', window = 8 }\n" + DESIGN + "poy = 4\n",
         "design a: pool_window must divide pox and poy (8 and 4), not 8"),
        (HEAD + LAYER + "pool = { kind = 'average', window = 2 }\n" + DESIGN,
         "layer conv1: on design a: pool must be max-pooling with stride = window and pad = 0"),
        (HEAD + LAYER + "pool = { kind = 'max', window = 2, stride = 1 }\n" + DESIGN,
         "layer conv1: on design a: pool must be max-pooling with stride = window and pad = 0"),
        (HEAD + LAYER + "stride = 3\n" + DESIGN, "design a: max_stride must be one of 1, 2, 4"),
        (HEAD + LAYER + "groups = 3\n" + DESIGN, "layer conv1: on design a: groups must be 1"),
        (HEAD + LAYER.replace("pad = 1", "pad = [1, 0, 1, 1]") + DESIGN,
         "layer conv1: on design a: pad must be the same on all sides, not [1, 0, 1, 1]"),
        (HEAD + LARGE + DESIGN, "layer conv1: on design a: pad and kernel - 1 - pad must be at "
         "most pox and poy (8), not 0 and 10"),
        (HEAD + LAYER + DESIGN + "kernel_words = 53\n",
         "design a: layer conv1: kernel_words must be at least 54 for it, not 53"),
        (HEAD + LAYER + DESIGN + "map_words = 11\n",
         "design a: layer conv1: map_words must be at least 24 for it, not 11"),
        (HEAD + "[fractions]\nmap = 16\n" + LAYER + DESIGN,
         "fractions: map = 16: must be a whole number from 0 to 15"),
        (HEAD + "[fractions]\nmaps = 1\n" + LAYER + DESIGN, "fractions: unknown key 'maps'"),
        (HEAD + LAYER + "fractions = { kernel = -1 }\n" + DESIGN,
         "layer conv1: fractions: kernel = -1: must be a whole number from 0 to 15"),
        (HEAD + LAYER + "fractions = { input = 3 }\n" + DESIGN,
         "layer conv1: fractions: unknown key 'input'"),
        (HEAD + "[fractions]\ninput = 1\nkernel = 2\n" + LAYER + DESIGN,
         "layer conv1: fractions: map = 10: must be at most 3, the fraction bits of its input and "
         "its kernels together"),
        (HEAD + LAYER + DESIGN.replace('architecture = "mac-array"\n', ""),
         "design a: architecture = 'cnn-merp': the network's format asks for one of mac-array"),
        (HEAD.replace('format = "fixed16"\n', "") + LAYER + DESIGN,
         "design a: architecture = 'mac-array': the network's format asks for one of cnn-merp"),
        (ROUNDING_ELSEWHERE, "network: rounding = 'nearest': must be absent, or used with"),
        (HEAD.replace('format = "fixed16"\n', "") + "[fractions]\nmap = 3\n" + LAYER,
         "file: fractions = {'map': 3}: must be absent, or used with format = \"fixed16\""),
        (HEAD.replace('format = "fixed16"\n', "") + LAYER + "fractions = { map = 3 }\n",
         "layer conv1: fractions: must be absent, or used with format = \"fixed16\""),
        (HEAD + 'storage = { maps = "bfloat16" }\n' + LAYER + DESIGN,
         "network: storage = {'maps': 'bfloat16'}: must be absent with format = 'fixed16'"),
        (HEAD.replace('"fixed16"', '"fixed16"\nrounding = "up"') + LAYER + DESIGN,
         "network: rounding = 'up': must be one of nearest, stochastic"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(BadInput) as error:
        read(tmp_path, text)
    assert str(error.value).startswith(f"t.toml: {said}")
    assert "\n" not in str(error.value)


def test_designs_of_a_base_that_no_layer_names_are_left_out(tmp_path: Path) -> None:
    network = open_network("digits-fixed")
    assert list(network.designs) == ["array"]
    text = 'base = "digits"\n[network]\nname = "t"\n[layer.fc3]\ndesign = "k3"\n'
    assert list(read(tmp_path, text).designs) == ["k3"]
    with pytest.raises(BadInput, match="design mine: no layer uses it"):
        read(tmp_path, text + "[design.mine]\nk = 1\nn_cu = 1\n")
