"""Reading a network file: what it says, what it takes from its base, and what is refused."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from merp.models.base.byte_image import ByteImage
from merp.models.base.errors import BadInput
from merp.models.base.formats import BFLOAT16, BINARY16, BINARY32
from merp.models.base.names import ALLOWED_NAME
from merp.models.base.shape import Pool, Shape
from merp.models.base.storage import Storage
from merp.models.machines.cnn_merp.params.sizing import check_fits
from merp.models.network.network_file import read_network

HEAD = '[network]\nname = "t"\ninput = { rows = 6, columns = 8, channels = 4 }\n'
STORED = HEAD.replace("{", "{{").replace("}", "}}") + "storage = {{ {} }}\n"
CONV = '[[layer]]\nname = "conv1"\nmaps = 6\nkernel = 3\n'
DESIGN = 'design = "a"\n[design.a]\nk = 3\nn_cu = 2\n'
FC = '[[layer]]\nname = "fc2"\nmaps = 5\nrelu = false\n'


@pytest.fixture
def read(tmp_path: Path):
    def read_text(text: str):
        path = tmp_path / "t.toml"
        path.write_text(text, encoding="utf-8")
        return read_network(path)

    return read_text


def test_rows_stay_rows_from_layer_to_layer(read) -> None:
    network = read(HEAD + CONV + CONV.replace("conv1", "conv2"))
    first, second = (layer.shape for layer in network.layers)
    assert (first.rows, first.columns, first.n) == (6, 8, 4)
    assert (second.rows, second.columns, second.n) == (4, 6, 6)


def test_a_fully_connected_layer_takes_rows_columns_and_channels(read) -> None:
    network = read(HEAD + CONV + 'pool = { kind = "max", window = 2, stride = 2 }\n' + FC)
    conv, full = network.layers
    assert (conv.kind, conv.shape.pooled_rows, conv.shape.pooled_columns) == ("conv", 2, 3)
    assert full.kind == "fc"
    assert full.shape == Shape(n=2 * 3 * 6, m=5, k=1, rows=1, columns=1, relu=False)


@pytest.mark.parametrize(
    ("keys", "relu", "relu6"),
    [
        ("", True, False),
        ('activation = "relu"', True, False),
        ('activation = "relu6"', True, True),
        ('activation = "none"', False, False),
        ('activation = "relu"\nrelu = true', True, False),
        ('activation = "none"\nrelu = false', False, False),
    ],
)
def test_activations(keys: str, relu: bool, relu6: bool, read) -> None:
    """Of convolutions and full connections; a design for ReLU6 is one with such a layer."""
    conv, full = read(HEAD + CONV + keys + '\n[[layer]]\nname = "fc2"\nmaps = 5\n' + keys).layers
    for layer in (conv, full):
        assert (layer.shape.relu, layer.shape.relu6) == (relu, relu6)
    network = read(HEAD + CONV + keys + f"\n{DESIGN}")
    assert network.designs["a"].relu6 == relu6


def test_tanh(read) -> None:
    """It needs binary32 and maxima, and a machine that has it."""
    text = HEAD + CONV + 'activation = "tanh"\n'
    (layer,) = read(text).layers
    assert (layer.shape.activation, layer.shape.relu, layer.shape.tanh) == ("tanh", False, True)
    with pytest.raises(BadInput) as caught:
        read(text + DESIGN)
    assert str(caught.value).endswith(
        "layer conv1: activation = 'tanh': machine cnn-merp has relu, relu6, leaky-relu, none"
    )


@pytest.mark.parametrize(
    ("number_format", "slope", "word"),
    [
        ("binary32", "", 0x3C23D70A),
        ("binary32", "slope = 0.25", 0x3E800000),
        ("binary32", 'slope = "1/3"', 0x3EAAAAAB),
        ("bfloat16", "", 0x3C24),
        ("bfloat16", "slope = 0.501953125", 0x3F00),
        ("binary16", "slope = 0.00006103515625", 0x400),
        ("binary32", "slope = 0.99999999999", 0x3F800000),
    ],
)
def test_the_slope_of_leaky_relu_is_rounded_once(read, number_format, slope, word) -> None:
    head = HEAD.replace("\n", f'\nformat = "{number_format}"\n', 1)
    keys = f'activation = "leaky-relu"\n{slope}\n'
    pool = '[[layer]]\nname = "pool3"\npool = { kind = "max", window = 2 }\n' + keys
    layers = read(head + CONV + keys + pool + '[[layer]]\nname = "fc2"\nmaps = 5\n' + keys).layers
    assert [(each.shape.relu, each.shape.relu6) for each in layers] == [(True, False)] * 3
    assert [hex(each.shape.slope) for each in layers] == [hex(word)] * 3


def test_a_design_for_relu_alone_refuses_relu6(read) -> None:
    design = read(HEAD + CONV + DESIGN).designs["a"]
    six = read(HEAD + CONV + 'activation = "relu6"\n').layers[0].shape
    with pytest.raises(BadInput, match=r"^here: ReLU6: the design is built for ReLU alone$"):
        check_fits(six, 1, design, "here")


def test_a_design_for_relu_alone_refuses_leaky_relu(read) -> None:
    leaky = HEAD + CONV + 'activation = "leaky-relu"\n'
    assert read(leaky + DESIGN).designs["a"].leaky
    design = read(HEAD + CONV + DESIGN).designs["a"]
    assert not design.leaky
    wanted = r"^here: leaky ReLU: the design is built without its multipliers$"
    with pytest.raises(BadInput, match=wanted):
        check_fits(read(leaky).layers[0].shape, 1, design, "here")


def test_a_network_has_one_number_format(read) -> None:
    network = read(
        HEAD.replace("\n", '\nformat = "bfloat16"\n', 1) + CONV + 'design = "a"\n'
        "[design.a]\nk = 3\nn_cu = 2\n"
    )
    assert network.fmt.bytes == 2
    assert network.designs["a"].fmt == network.fmt == BFLOAT16


def test_what_lies_in_memory_may_be_narrower(read) -> None:
    network = read(STORED.format("maps = 'bfloat16', deltas = 'binary16'") + CONV + DESIGN)
    wanted = Storage(maps=BFLOAT16, deltas=BINARY16, kernels=BINARY32, gradients=BINARY32)
    assert network.storage == network.designs["a"].storage == wanted
    assert network.fmt == BINARY32
    for same in ("", "maps = 'binary32'"):  # no tensor differs
        plain = read(STORED.format(same) + CONV + DESIGN)
        assert plain.storage is None
        assert plain.designs["a"] == read(HEAD + CONV + DESIGN).designs["a"]
    assert read(STORED.format("maps = 'binary16'") + "format = 'binary16'\n" + CONV).storage is None


def test_the_image_may_lie_in_memory_in_bytes(read) -> None:
    """The first layer's design alone knows of it."""
    other = SECOND + DESIGN.replace('"a"', '"b"').replace(".a", ".b")
    network = read(
        STORED.format("image = 'uint8', image_scale = '2/255', image_offset = -0.1")
        + CONV + 'design = "a"\n' + other + "[design.a]\nk = 3\nn_cu = 2\n"
    )  # fmt: skip
    image = ByteImage.of(Fraction(2, 255), Fraction(-1, 10))
    plain = dict.fromkeys(("maps", "deltas", "kernels", "gradients"), BINARY32)
    assert network.storage == network.designs["a"].storage == Storage(**plain, image=image)
    assert network.designs["b"].storage == Storage(**plain)
    first, second = network.layers
    assert network.at(first).stored_input == network.designs["a"].stored_input == image
    assert network.at(second).stored_input == network.designs["b"].stored_input == BINARY32
    # A byte is a 255th of the range from 0 to 1, where the file says nothing else.
    assert read(STORED.format("image = 'uint8'") + CONV).stored_input == ByteImage()
    # As maps are: nothing of its own.
    same = read(
        STORED.format("image = 'bfloat16', maps = 'bfloat16'")
        + CONV + 'design = "a"\n' + OTHER + "[design.a]\nk = 3\nn_cu = 2\n"
    )  # fmt: skip
    assert same.storage.image is None
    half = read(STORED.format("image = 'binary16'") + CONV + DESIGN)
    assert half.stored_input == BINARY16
    assert half.stored("maps") == BINARY32


OTHER = '[[layer]]\nname = "conv2"\nmaps = 6\nkernel = 1\ndesign = "a"\n'
SECOND = CONV.replace("conv1", "conv2")
SAME = "maps = 6\nkernel = 1\n"
BESIDE = CONV + '[[layer]]\nname = "conv2"\n' + SAME
BESIDE_TOO = '[[layer]]\nname = "conv3"\ninput = "conv1"\n' + SAME
TOGETHER = '[[layer]]\nname = "conv4"\nmaps = 6\nkernel = 1\ninput = {}\n'
DESIGNED = HEAD + CONV + 'design = "a"\n'
BAD = {
    "": "file: network is missing",
    "x = 1\n" + HEAD + CONV: (
        "file: unknown key 'x': allowed are network, fractions, layer, design, file_format"
    ),
    "file_format = 0\n": "file_format = 0: allowed is a whole number from 1 to 1",
    "file_format = '1'\n": "file_format = '1': allowed is a whole number from 1 to 1",
    "network = 3\n": "file: network must be a table, not 3",
    HEAD: "file: layer is missing",
    HEAD
    + "layer = []\n": "network: unknown key 'layer': allowed are name, format, rounding, storage, "
    "backward, layer_fusion, input",
    "layer = []\n" + HEAD: "file: layer = []: must be one or more [[layer]] tables",
    "layer = [3]\n" + HEAD: "layer 1 must be a table, not 3",
    HEAD.replace("rows = 6", "rows = -6") + CONV: (
        "network: input: rows = -6: must be a whole number from 1 to 4096"
    ),
    HEAD.replace('"t"', "7") + CONV: f"network: name = 7: must be {ALLOWED_NAME}",
    HEAD.replace("input", "inptu") + CONV: (
        "network: input is missing; is 'inptu' meant to be it?"
    ),
    HEAD.replace("\n", '\nformat = "bfloat61"\n', 1) + CONV: (
        "network: format = 'bfloat61': must be one of binary32, bfloat16, binary16, fixed16; "
        "did you mean bfloat16?"
    ),
    STORED.format("maps = 'bf16'") + CONV: (
        "network: storage: maps = 'bf16': must be one of binary32, bfloat16, binary16; "
        "did you mean bfloat16?"
    ),
    STORED.format("maps = 16")
    + CONV: "network: storage: maps = 16: must be one of binary32, bfloat16, binary16",
    STORED.format("map = 'bfloat16'") + CONV: (
        "network: storage: unknown key 'map': allowed are maps, deltas, kernels, gradients, image, "
        "image_scale, image_offset; did you mean maps?"
    ),
    STORED.format("image = 'uint8'") + CONV + 'design = "a"\n' + OTHER + "[design.a]\nk = 3\n": (
        "design a: conv1 takes an image that is stored as uint8 (1/255 * byte + 0), conv2 maps "
        "that are not: allowed is a design for conv1 alone"
    ),
    STORED.format("image = 'u8'") + CONV: (
        "network: storage: image = 'u8': must be one of binary32, bfloat16, binary16, uint8; "
        "did you mean uint8?"
    ),
    STORED.format("image = 'binary32'") + "format = 'bfloat16'\n" + CONV: (
        "network: storage: image = 'binary32': must be one of bfloat16, uint8: format holds all "
        "their numbers"
    ),
    STORED.format("image_scale = 2") + CONV: (
        'network: storage: image_scale = 2: must be absent, or used with image = "uint8"'
    ),
    **{
        STORED.format(f"image = 'uint8', image_scale = {scale}") + CONV: (
            f"network: storage: image_scale = {scale.replace(chr(34), chr(39))}: must be {allowed}"
        )
        for scale, allowed in {
            "0": "above 0",
            '"-1/255"': "above 0",
            '"1/0"': 'a number, or a fraction in a text: "1/255"',
            '"1e9999999"': 'a number, or a fraction in a text: "1/255"',
            "nan": 'a number, or a fraction in a text: "1/255"',
            "true": 'a number, or a fraction in a text: "1/255"',
        }.items()
    },
    STORED.format("image = 'uint8', image_scale = 300") + "format = 'binary16'\n" + CONV: (
        "network: storage: image: 65700 is beyond the largest number of binary16"
    ),
    HEAD + "storage = 'bfloat16'\n" + CONV: "network: storage must be a table, not 'bfloat16'",
    **{
        STORED.format(f"deltas = '{stored}'") + f"format = '{fmt}'\n" + CONV: (
            f"network: storage: deltas = '{stored}': must be one of {fmt}: format holds all their "
            "numbers"
        )
        for fmt, stored in (
            ("bfloat16", "binary32"),
            ("bfloat16", "binary16"),
            ("binary16", "bfloat16"),
        )
    },
    **{
        HEAD.replace("\n", f'\nformat = "{name}"\n', 1) + CONV: (
            f"network: format = '{name}': must be one of "
            f"binary32, bfloat16, binary16, fixed16; {hint}"
        )
        for name, hint in {
            "float32": "did you mean binary32?",
            "Float32": "did you mean binary32?",
            "float": "did you mean binary32?",
            "single": "did you mean binary32?",
            "float16": "did you mean binary16?",
            "half": "did you mean binary16?",
            "bf16": "did you mean bfloat16?",
            "double": "binary64 is not built",
            "float64": "binary64 is not built",
            "binary64": "binary64 is not built",
        }.items()
    },
    HEAD + CONV.replace("conv1", "norm1"): (
        "layer 1: name = 'norm1': must be conv..., fc... or pool..., which gives the kind of layer"
    ),
    HEAD + CONV + '[[layer]]\nname = "pool2"\n': "layer pool2: pool is missing",
    HEAD + CONV + '[[layer]]\nname = "pool2"\npool = { kind = "max", window = "map" }\n': (
        "layer pool2: pool: window = 'map': must be a whole number, 'map' is for kind = 'average'"
    ),
    HEAD + CONV + 'pool = { kind = "average", window = "map" }\n': (
        "layer conv1: pool: window = 'map': must be a whole number from 1 to 4096"
    ),
    HEAD + CONV + '[[layer]]\nname = "pool2"\nmaps = 6\npool = { kind = "max", window = 2 }\n': (
        "layer pool2: unknown key 'maps': allowed are name, design, fractions, input, activation, "
        "relu, slope, pool"
    ),
    HEAD.replace('"t"', '"/x/y"') + CONV: f"network: name = '/x/y': must be {ALLOWED_NAME}",
    HEAD + CONV.replace("conv1", "conv/1"): f"layer 1: name = 'conv/1': must be {ALLOWED_NAME}",
    HEAD + CONV + CONV: (
        "layer 2: name = 'conv1': must be unique in letters and digits, by which files are named"
    ),
    HEAD + CONV.replace("conv1", "conv-1") + CONV.replace("conv1", "conv 1"): (
        "layer 2: name = 'conv 1': must be unique in letters and digits, by which files are named"
    ),
    DESIGNED + "[design.a]\nk = 3\nn_cu = 2\n[design.A]\nk = 3\nn_cu = 2\n": (
        "design 2: name = 'A': must be unique in letters and digits, by which files are named"
    ),
    DESIGNED + '[design."a\\n"]\nk = 3\nn_cu = 2\n': (
        f"design 1: name = 'a\\n': must be {ALLOWED_NAME}"
    ),
    HEAD + CONV.replace("maps = 6\n", ""): "layer conv1: maps is missing",
    HEAD + CONV.replace("6", "0"): (
        "layer conv1: maps = 0: must be a whole number from 1 to 65536"
    ),
    HEAD + CONV.replace("6", "true"): (
        "layer conv1: maps = true: must be a whole number from 1 to 65536"
    ),
    HEAD + CONV.replace("3", "7"): (
        "layer conv1: kernel = 7: must be no larger than the padded input map (6 x 8)"
    ),
    **{
        HEAD + CONV + f"pad = {pad}\n": (
            f"layer conv1: pad = {pad}: must be a whole number from 0 to 2, or four of them: "
            "[top, left, bottom, right]"
        )
        for pad in ("3", "-1", "true", "[1, 1]", "[0, 1, 2, 3]", "[0, 1, 2.0, 1]", "[]")
    },
    HEAD + CONV + "groups = 3\n": (
        "layer conv1: groups = 3: must be a divisor of the 4 input maps"
    ),
    HEAD + CONV + "groups = 4\n": "layer conv1: groups = 4: must be a divisor of the 6 maps",
    HEAD + CONV + "strid = 2\n": (
        "layer conv1: unknown key 'strid': allowed are name, maps, activation, relu, slope, "
        "design, fractions, input, kernel, stride, pad, groups, pool, add, trainable; did you mean "
        "stride?"
    ),
    HEAD + CONV + 'input = "conv1"\n': "layer conv1: input = 'conv1': must be one of none",
    HEAD + BESIDE + 'add = "conv3"\n': (
        "layer conv2: add = 'conv3': must be one of conv1; did you mean conv1?"
    ),
    HEAD + CONV + SECOND + 'add = "conv1"\n': (
        "layer conv2: add = 'conv1': must be a layer whose output is of the size of the sums, "
        "2 x 4 x 6"
    ),
    HEAD + BESIDE + '[[layer]]\nname = "conv3"\ninput = "conv1"\n' + SAME: (
        "layer conv2: no layer takes its output or adds it"
    ),
    HEAD
    + BESIDE
    + '[[layer]]\nname = "conv3"\nadd = "conv1"\n'
    + SAME
    + '[[layer]]\nname = "conv4"\nadd = "conv1"\n'
    + SAME: ("layer conv1: one layer at most may add its output"),
    HEAD
    + BESIDE
    + '[[layer]]\nname = "conv3"\nadd = "conv1"\n'
    + SAME
    + '[[layer]]\nname = "conv4"\ninput = "conv1"\nadd = "conv3"\n'
    + SAME: ("layer conv3: add = 'conv1': layer conv4, which takes it, must precede it"),
    HEAD + BESIDE + '[[layer]]\nname = "conv3"\ninput = "conv1"\nadd = "conv2"\n' + SAME: (
        "layer conv2: only added, to the sums of conv3: allowed are relu = false and no pool"
    ),
    HEAD + BESIDE + TOGETHER.format('["conv2"]'): (
        "layer conv4: input = ['conv2']: must be two or more different names of conv1, conv2"
    ),
    HEAD + BESIDE + TOGETHER.format('["conv2", "conv2"]'): (
        "layer conv4: input = ['conv2', 'conv2']: must be two or more different names of conv1, "
        "conv2"
    ),
    HEAD + BESIDE + TOGETHER.format('["conv2", ["conv1"]]'): (
        "layer conv4: input = ['conv2', ['conv1']]: must be two or more different names of conv1, "
        "conv2"
    ),
    HEAD + CONV + SECOND + TOGETHER.format('["conv1", "conv2"]'): (
        "layer conv4: input = ['conv1', 'conv2']: must be layers with equal rows and columns, not "
        "conv1 4 x 6 x 6, conv2 2 x 4 x 6"
    ),
    HEAD
    + BESIDE
    + TOGETHER.format('["conv2", "conv1"]').replace("6", "2")
    + '[[layer]]\nname = "conv5"\nmaps = 2\nkernel = 1\ninput = "conv1"\nadd = "conv4"\n': (
        "layer conv1: its maps are taken together with those of others (conv2+conv1): allowed is "
        "no other use of its output"
    ),
    HEAD
    + BESIDE
    + BESIDE_TOO
    + TOGETHER.format('["conv2", "conv3"]')
    + '[[layer]]\nname = "conv5"\ninput = ["conv3", "conv2"]\nadd = "conv4"\n'
    + SAME: (
        "layer conv2: its maps are taken together with those of others (conv2+conv3): allowed is "
        "no other use of its output"
    ),
    HEAD + CONV + "relu = 1\n": "layer conv1: relu = 1: must be true or false",
    HEAD + CONV + 'activation = "relu8"\n': (
        "layer conv1: activation = 'relu8': must be one of relu, relu6, leaky-relu, tanh, none; "
        "did you mean relu?"
    ),
    HEAD.replace("\n", '\nformat = "bfloat16"\n', 1) + CONV + 'activation = "tanh"\n': (
        "layer conv1: activation = 'tanh': must be one of relu, relu6, none: tanh needs "
        "format = 'binary32'"
    ),
    HEAD + CONV + 'activation = "tanh"\npool = { kind = "average", window = 2, stride = 2 }\n': (
        "layer conv1: activation = 'tanh': must be another one with pool.kind = 'average': tanh "
        "needs 'max'"
    ),
    HEAD + CONV + "slope = 0.1\n": (
        "layer conv1: slope = 0.1: must be absent without activation = 'leaky-relu'"
    ),
    HEAD + CONV + 'activation = "relu6"\nslope = 0.1\n': (
        "layer conv1: slope = 0.1: must be absent without activation = 'leaky-relu'"
    ),
    **{
        HEAD + CONV + f'activation = "leaky-relu"\nslope = {slope}\n': (
            f"layer conv1: slope = {slope}: must be above 0 and below 1"
        )
        for slope in ("0", "1", "-0.1", "1.5")
    },
    HEAD + CONV + 'activation = "leaky-relu"\nslope = true\n': (
        'layer conv1: slope = true: must be a number, or a fraction in a text: "1/255"'
    ),
    HEAD + CONV + 'activation = "leaky-relu"\nslope = 1e-40\n': (
        "layer conv1: slope = 1e-40: must be at least 2^-126, the smallest normal number of the "
        "format"
    ),
    HEAD.replace("\n", '\nformat = "fixed16"\n', 1) + CONV + 'activation = "leaky-relu"\n': (
        "layer conv1: activation = 'leaky-relu': must be one of relu, relu6, none with format = "
        "'fixed16'"
    ),
    **{
        HEAD + CONV + f'activation = "{activation}"\nrelu = {short}\n': (
            f"layer conv1: relu = {short}: must be absent with activation = '{activation}': one "
            "of the two must go"
        )
        for activation, short in (
            ("relu6", "true"),
            ("relu6", "false"),
            ("relu", "false"),
            ("none", "true"),
            ("leaky-relu", "true"),
        )
    },
    HEAD + CONV + 'pool = { kind = "mean", window = 2 }\n': (
        "layer conv1: pool: kind = 'mean': must be one of max, average"
    ),
    HEAD + CONV + 'pool = { kind = "max", window = 5 }\n': (
        "layer conv1: pool: window = 5: must be no larger than the convolution's output (4 x 6)"
    ),
    HEAD + CONV + 'pool = { kind = "max", window = 3, stride = 2, pad = 3 }\n': (
        "layer conv1: pool: pad = 3: must be at most 2 on each side, below the window"
    ),
    HEAD + CONV + 'pool = { kind = "max", window = 1, stride = 2, pad = [0, 0, 1, 0] }\n': (
        "layer conv1: pool: pad = [0, 0, 1, 0]: must be at most 0 on each side, below the window"
    ),
    HEAD + CONV + 'pool = { kind = "max", window = 3, stride = 2, ceil = 1 }\n': (
        "layer conv1: pool: ceil = 1: must be true or false"
    ),
    HEAD + CONV + 'pool = { kind = "max", window = 7, stride = 2, pad = 1 }\n': (
        "layer conv1: pool: window = 7: must be no larger than the convolution's output (4 x 6 "
        "and its padding)"
    ),
    HEAD + CONV + 'pool = { kind = "average", window = 3, stride = 2, ceil = true }\n': (
        "layer conv1: pool: ceil = true: must be false if a window of average pooling would "
        "be partial"
    ),
    HEAD + FC + "kernel = 1\n": (
        "layer fc2: unknown key 'kernel': allowed are name, maps, activation, relu, slope, design, "
        "fractions, input, add, trainable"
    ),
    DESIGNED: "layer conv1: design = 'a': must be one of auto",
    DESIGNED + "[design.b]\nk = 3\nn_cu = 2\n": "layer conv1: design = 'a': must be one of b, auto",
    HEAD + CONV + "[design.a]\nk = 3\nn_cu = 2\n": "design a: no layer uses it",
    DESIGNED + "[design.a]\nk = 3\n": "design a: n_cu is missing",
    DESIGNED + "[design.a]\nk = 3\nn_cu = 0\n": (
        "design a: n_cu = 0: must be a whole number from 1 to 1048576"
    ),
    DESIGNED + "[design.a]\nk = 3\nn_cu = 513\n": (
        "design a: n_cu must be a whole number from 1 to 512, not 513"
    ),
    DESIGNED + "[design.a]\nk = 3\nn_cu = 2\nn_cus = 2\n": (
        "design a: unknown key 'n_cus': allowed are architecture, cu_kind, ku_kind, k, n_cu, r, "
        "p, d, fused_dsp, operand_precision, fused_window, accumulator_precision, ku_lanes, "
        "mul_latency, add_latency, max_images, kernel_port, map_port, kernel_words, groups, "
        "row_words, max_size, max_maps, max_stride, fifo_words, pool_window, pool_overlap, "
        "pool_words, average, partial; did you mean n_cu?"
    ),
    DESIGNED + '[design.a]\nk = 3\nn_cu = 2\ncu_kind = "tre"\n': (
        "design a: cu_kind = 'tre': must be one of tree, fused; did you mean tree?"
    ),
    DESIGNED + '[design.a]\nk = 3\nn_cu = 2\ncu_kind = "fused"\noperand_precision = 9\n': (
        "design a: operand_precision must be one of 8, 11, 24, not 9"
    ),
    DESIGNED + "[design.a]\nk = 3\nn_cu = 2\noperand_precision = 8\n": (
        "design a: fused_dsp, operand_precision, fused_window and accumulator_precision are for "
        "cu_kind fused, not tree"
    ),
    DESIGNED + '[design.a]\nk = 3\nn_cu = 2\ncu_kind = "fused"\nfused_dsp = 3\n': (
        "design a: fused_dsp must be 1 or 2, not 3"
    ),
    DESIGNED + '[design.a]\nk = 3\nn_cu = 2\ncu_kind = "fused"\nfused_window = 27\n': (
        "design a: fused_window must be a whole number from 28 to 32, not 27"
    ),
    DESIGNED + '[design.a]\nk = 3\nn_cu = 2\ncu_kind = "fused"\naccumulator_precision = 29\n': (
        "design a: accumulator_precision must be a whole number from 24 to 28, not 29"
    ),
    DESIGNED + "[design.a]\nk = 3\nn_cu = 2\naccumulator_precision = 28\n": (
        "design a: fused_dsp, operand_precision, fused_window and accumulator_precision are for "
        "cu_kind fused, "
        "not tree"
    ),
    DESIGNED + "[design.a]\nk = 3\nn_cu = 2\nfused_window = 28\n": (
        "design a: fused_dsp, operand_precision, fused_window and accumulator_precision are for "
        "cu_kind fused, "
        "not tree"
    ),
    DESIGNED.replace("input =", 'format = "bfloat16"\ninput =')
    + '[design.a]\nk = 3\nn_cu = 2\ncu_kind = "fused"\n': (
        "design a: cu_kind fused is for binary32 only"
    ),
    DESIGNED + "[design.a]\nk = 2\nn_cu = 2\n": (
        "layer conv1: kernel size 3: the design is built for k = 2"
    ),
    DESIGNED + "[design.a]\nk = 3\nn_cu = 2\nmax_maps = 3\n": (
        "layer conv1: needs max_maps = 4: the design has max_maps = 3"
    ),
    HEAD + FC.replace("5", "40000") + 'design = "a"\n[design.a]\nk = 1\nn_cu = 64\n': (
        "design a: kernel memories of 7680000 elements: at most 4194304 are allowed; "
        "without a design the layer is traffic-only"
    ),
}


@pytest.mark.parametrize(
    ("keys", "pool", "size"),
    [
        ("pad = 1", Pool(window=3, stride=2, pad=1), (2, 3)),
        ("pad = [0, 1, 1, 0]", Pool(window=3, stride=2, pad=(0, 1, 1, 0)), (2, 3)),
        ("ceil = true", Pool(window=3, stride=2, pad=(0, 0, 1, 1)), (2, 3)),
        ("ceil = true, pad = [1, 1, 0, 0]", Pool(window=3, stride=2, pad=(1, 1, 0, 0)), (2, 3)),
        ("ceil = false", Pool(window=3, stride=2), (1, 2)),
        ("ceil = true, pad = 1", Pool(window=3, stride=2, pad=(1, 1, 2, 2)), (3, 4)),
        ("pad = 2", Pool(window=3, stride=2, pad=2), (3, 4)),
    ],
)
def test_pooling_windows_may_hang_over(read, keys: str, pool: Pool, size: tuple[int, int]) -> None:
    """On sums of 4 x 6; ``ceil`` becomes the padding that it is."""
    (layer,) = read(
        HEAD + CONV + f'pool = {{ kind = "max", window = 3, stride = 2, {keys} }}\n'
    ).layers
    assert layer.shape.pool == pool
    assert (layer.shape.pooled_rows, layer.shape.pooled_columns) == size


def test_a_design_is_built_for_windows_that_hang_over(read) -> None:
    pool = 'pool = { kind = "max", window = 3, stride = 2, pad = 1 }\n'
    designed = HEAD + CONV + pool + 'design = "a"\n[design.a]\nk = 3\nn_cu = 2\n'
    network = read(designed)
    (layer,), design = network.layers, network.designs["a"]
    assert design.hanging
    check_fits(layer.shape, 1, design, "here")
    with pytest.raises(BadInput, match="here: pooling windows hang over the edge of the 4 x 6"):
        check_fits(layer.shape, 1, replace(design, hanging=False), "here")
    whole = replace(layer.shape, pool=Pool(window=3, stride=2))
    check_fits(whole, 1, design, "here")


def test_a_design_is_built_for_windows_that_hang_over_by_their_stride(read) -> None:
    pool = 'pool = { kind = "max", window = 3, stride = 1, pad = 1 }\n'
    network = read(HEAD + CONV + pool + 'design = "a"\n[design.a]\nk = 3\nn_cu = 2\n')
    (layer,), design = network.layers, network.designs["a"]
    assert (design.far, design.max_size, layer.shape.pooled_columns) == (True, 8, 6)
    check_fits(layer.shape, 1, design, "here")
    near = replace(design, far=False)
    wide = replace(near, max_stride=2)
    with pytest.raises(BadInput, match="here: pooling windows hang over the edge by their stride"):
        check_fits(layer.shape, 1, near, "here")
    with pytest.raises(ValueError, match="far is for designs with hanging"):
        replace(design, hanging=False)
    check_fits(replace(layer.shape, pool=Pool(window=3, stride=2, pad=1)), 1, wide, "here")


@pytest.mark.parametrize("text", BAD, ids=list(BAD.values()))
def test_a_mistake_in_a_file_is_named(read, text: str) -> None:
    with pytest.raises(BadInput) as error:
        read(text)
    assert str(error.value) == f"t.toml: {BAD[text]}"


def test_a_file_says_only_what_differs_from_its_base(read, tmp_path: Path) -> None:
    pool = 'pool = { kind = "max", window = 2, stride = 1 }\n'
    whole = HEAD + CONV + pool + 'design = "a"\n' + FC + "[design.a]\nk = 3\nn_cu = 2\nr = 1\n"
    (tmp_path / "whole.toml").write_text(whole)
    changed = read(
        'base = "whole"\n[network]\nname = "mine"\n[layer.conv1]\nmaps = 7\n'
        'pool = { kind = "average" }\n[design.a]\nn_cu = 3\n'
    )
    whole = whole.replace('"t"', '"mine"').replace("maps = 6", "maps = 7")
    assert changed == read(whole.replace('"max"', '"average"').replace("n_cu = 2", "n_cu = 3"))


BAD_ON_A_BASE = {
    'base = "t"\n': "file: base = 't': must be one of whole",
    'base = "whol"\n': "file: base = 'whol': must be one of whole; did you mean whole?",
    'base = "whole"\n[layer.conv2]\npad = 1\n': (
        "layer: unknown key 'conv2': allowed are conv1, fc2; did you mean conv1?"
    ),
    'base = "whole"\n' + CONV: (
        "layer must be a table, not [{'name': 'conv1', 'maps': 6, 'kernel': 3}]"
    ),
    'base = "whole"\n[layer.fc2]\npad = 1\n': (
        "layer fc2: unknown key 'pad': allowed are name, maps, activation, relu, slope, design, "
        "fractions, input, add, trainable"
    ),
    'base = "whole"\n[layer]\nconv1 = 3\n': "layer 1 must be a table, not 3",
    'base = "whole"\nnetwork = 3\n': "file: network must be a table, not 3",
    'base = "whole"\n[design.a]\nk = 3\nn_cu = 2\n': "design a: no layer uses it",
}


@pytest.mark.parametrize("text", BAD_ON_A_BASE, ids=list(BAD_ON_A_BASE.values()))
def test_a_mistake_in_a_file_with_a_base_is_named(read, tmp_path: Path, text: str) -> None:
    (tmp_path / "whole.toml").write_text(HEAD + CONV + FC)
    with pytest.raises(BadInput) as error:
        read(text)
    assert str(error.value) == f"t.toml: {BAD_ON_A_BASE[text]}"


def test_a_file_that_is_not_toml_is_named(tmp_path: Path) -> None:
    path = tmp_path / "t.toml"
    with pytest.raises(BadInput, match=r"t.toml: cannot be read: No such file or directory$"):
        read_network(path)
    path.write_bytes(b"name = \xff")
    with pytest.raises(BadInput, match=r"t.toml: not UTF-8 text: byte 7$"):
        read_network(path)
    path.write_text("name = \n")
    with pytest.raises(BadInput, match=r"t.toml: not TOML: Invalid value \(at line 1, column 8\)$"):
        read_network(path)
