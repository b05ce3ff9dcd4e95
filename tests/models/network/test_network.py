from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from merp.models.errors import BadInput
from merp.models.network.network_file import read_network
from merp.models.params.cnn_merp.design import Design
from merp.models.params.cnn_merp.sizing import MAXIMA, check_fits, size_design
from merp.models.params.formats import BFLOAT16
from merp.models.params.names import ALLOWED_NAME
from merp.models.params.shape import Pool, Shape
from merp.tools.common.shipped import open_network, shipped_names

HEAD = '[network]\nname = "t"\ninput = { rows = 6, columns = 8, channels = 4 }\n'
CONV = '[[layer]]\nname = "conv1"\nmaps = 6\nkernel = 3\n'
FC = '[[layer]]\nname = "fc2"\nmaps = 5\nrelu = false\n'


@pytest.fixture
def read(tmp_path: Path):
    def read_text(text: str):
        path = tmp_path / "t.toml"
        path.write_text(text, encoding="utf-8")
        return read_network(path)

    return read_text


def test_the_shipped_networks_are_those_of_the_papers() -> None:
    assert shipped_names() == [
        "alexnet", "alexnet-avg", "alexnet24", "cifar10-1x", "cifar10-2x", "cifar10-4x", "digits",
        "lenet5", "vgg16",
    ]  # fmt: skip
    assert all(open_network(name).name == name for name in shipped_names())


def test_alexnet_chains_to_the_sizes_of_the_paper() -> None:
    layers = open_network("alexnet").layers
    sizes = [(x.groups, x.shape.n, x.shape.m, x.shape.k, x.shape.pooled_rows) for x in layers]
    assert sizes == [
        (1, 3, 96, 11, 27), (2, 48, 128, 5, 13), (1, 256, 384, 3, 13), (2, 192, 192, 3, 13),
        (2, 192, 128, 3, 6), (1, 9216, 4096, 1, 1), (1, 4096, 4096, 1, 1), (1, 4096, 1000, 1, 1),
    ]  # fmt: skip
    assert [x.design for x in layers] == ["k11", "k5", "k3", "k3", "k3", None, None, None]


def test_alexnet_with_average_pooling_differs_in_pooling_only() -> None:
    maximum, average = open_network("alexnet"), open_network("alexnet-avg")
    for a, b in zip(maximum.layers, average.layers, strict=True):
        assert (a.inputs, a.sums, a.outputs) == (b.inputs, b.sums, b.outputs)
        assert b.shape.pool is None or b.shape.pool.kind == "average"
    assert [d.average for d in average.designs.values()] == [True, True, True]


def test_alexnet_on_24_units_differs_in_the_number_of_units_only() -> None:
    """So its bits are alexnet's: a golden model is told the layer, the format and the summation."""
    less, more = open_network("alexnet"), open_network("alexnet24")
    assert (more.layers, more.input, more.fmt) == (less.layers, less.input, less.fmt)
    for layer in more.layers:
        assert more.summation(layer) == less.summation(layer)
    assert {name: d.n_cu for name, d in less.designs.items()} == {"k11": 3, "k5": 16, "k3": 48}
    assert {name: d.n_cu for name, d in more.designs.items()} == {"k11": 4, "k5": 24, "k3": 64}
    for name, design in more.designs.items():
        kept = {"n_cu": less.designs[name].n_cu}
        kept |= {key: getattr(less.designs[name], key) for key in MAXIMA}
        assert replace(design, **kept) == less.designs[name]


def test_lenet_has_the_sizes_of_f_cnn_table_1() -> None:
    conv1, conv2, fc3, fc4 = (layer.shape for layer in open_network("lenet5").layers)
    rows = [x for s in (conv1, conv2) for x in (s.rows, s.out_rows)]
    assert [*rows, conv2.pooled_rows] == [28, 24, 12, 8, 4]
    assert (fc3.n, fc3.m, fc4.m) == (800, 500, 10)


@pytest.mark.parametrize(("width", "printed"), [(1, 58.71), (2, 231.2), (4, 921.4)])
def test_cifar_networks_have_the_operations_that_the_paper_measured(width, printed) -> None:
    """GOPs times seconds per epoch over 50,000 images, from tables II and III."""
    layers = open_network(f"cifar10-{width}x").layers
    step = 3 * sum(layer.operations() for layer in layers) - layers[0].operations()
    assert step / 1e6 == pytest.approx(printed, rel=0.01)
    assert [layer.shape.m for layer in layers[:-1]] == [
        width * maps for maps in (16, 16, 32, 32, 64, 64)
    ]


def test_vgg16_has_the_known_weights_and_operations() -> None:
    layers = open_network("vgg16").layers
    assert sum(layer.kernels + layer.biases for layer in layers) == 138_357_544
    assert sum(layer.operations() for layer in layers) == 30_940_528_640


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


def test_a_network_has_one_number_format(read) -> None:
    network = read(
        HEAD.replace("\n", '\nformat = "bfloat16"\n', 1) + CONV + 'design = "a"\n'
        "[design.a]\nk = 3\nn_cu = 2\n"
    )
    assert network.word_bytes == 2
    assert network.designs["a"].fmt == network.fmt == BFLOAT16


def test_a_design_is_sized_for_its_layers() -> None:
    shapes = [
        Shape(n=5, m=7, k=3, rows=9, columns=10, pad=2, pool=Pool(window=3, stride=2)),
        Shape(n=2, m=11, k=3, rows=13, columns=17, stride=3, pool=Pool(window=4, stride=1)),
    ]
    design = size_design(shapes, n_cu=4, r=2, p=2, d=2)
    assert (design.kernel_words, design.groups, design.max_maps) == (5 * 2, 3, 5)
    assert design.row_words == max(4 * 5, 6 * 2)
    assert design.max_size == 17
    assert design.max_stride == 3
    assert (design.pool_window, design.pool_overlap) == (4, 4)
    # beats per position: 2 * 2 and 3 * 2; pooled columns: 5 and 2
    assert design.pool_words == max(2 * 4, 1 * 6)
    # array 24 cycles, pool 2, 8 between, beats 4 and 6; n*G = 10 and 6
    assert design.fifo_words == max(2 * (1 + 4), 3 * (1 + 7))
    assert not design.average
    for shape in shapes:
        check_fits(shape, 256, design, "t")


def test_a_design_is_sized_for_what_is_larger_than_the_input() -> None:
    shape = Shape(n=1, m=1, k=3, rows=4, columns=5, pad=2, pool=Pool(window=1, stride=2))
    design = size_design([shape], n_cu=1, r=1)
    assert (design.max_size, design.max_stride) == (7, 2)


@pytest.mark.parametrize("n", [1, 2, 3, 18, 19])
def test_the_fifo_covers_what_is_between_the_array_and_the_output(n: int) -> None:
    plain = Shape(n=n, m=1, k=1, rows=2, columns=2)
    average = Shape(n=n, m=1, k=1, rows=2, columns=2, pool=Pool(kind="average", window=2, stride=2))
    deep = Shape(n=n, m=1, k=3, rows=3, columns=3)
    for shape in (plain, average, deep):
        design = size_design([shape], n_cu=1, r=1)
        cycles = design.array_latency + design.pool_latency + 8 + 1  # one beat
        assert design.fifo_words == 1 + -(-cycles // n)


def test_without_pooling_nothing_waits_in_a_pool_memory() -> None:
    """A layer without pooling shares a design with one that has some, and adds nothing."""
    shape = Shape(n=2, m=6, k=3, rows=50, columns=50)
    assert size_design([FITTED, shape], n_cu=3, r=1).pool_words == 6
    single = Shape(n=2, m=6, k=3, rows=50, columns=50, pool=Pool(window=1, stride=2))
    assert size_design([FITTED, single], n_cu=3, r=1).pool_words == 6


def test_two_positions_always_have_room() -> None:
    shape = Shape(n=500, m=7, k=3, rows=3, columns=3)
    assert size_design([shape], n_cu=2, r=1).fifo_words == 2 * 4


def test_a_chosen_maximum_stands() -> None:
    shape = Shape(n=5, m=7, k=3, rows=9, columns=10)
    design = size_design([shape], n_cu=4, groups=9, fifo_words=40, max_maps=64, average=True)
    assert (design.groups, design.fifo_words, design.max_maps) == (9, 40, 64)
    assert design.average
    assert design.kernel_words == 10


FITTED = Shape(
    n=4, m=6, k=3, rows=8, columns=8, stride=2, pool=Pool(kind="average", window=3, stride=2)
)
LIMITS = {
    "kernel_words": 8, "groups": 2, "row_words": 12, "max_size": 8, "max_maps": 4,
    "max_stride": 2, "pool_window": 3, "pool_overlap": 2, "max_images": 5,
}  # fmt: skip


@pytest.mark.parametrize("key", sorted({*LIMITS, "fifo_words", "pool_words"} - {"groups"}))
def test_a_layer_beyond_a_maximum_is_refused_by_its_name(key: str) -> None:
    values = vars(size_design([FITTED], n_cu=3, r=1)) | {"max_images": 5}
    values |= {"fifo_words": 4, "pool_words": 6, "p": 2}
    assert {name: values[name] for name in LIMITS} == LIMITS
    check_fits(FITTED, 5, Design(**values), "net.toml: layer conv1")
    short = Design(**(values | {key: values[key] - 1}))
    with pytest.raises(BadInput) as error:
        check_fits(FITTED, 5, short, "net.toml: layer conv1")
    assert str(error.value) == (
        f"net.toml: layer conv1: needs {key} = {values[key]}: "
        f"the design has {key} = {values[key] - 1}"
    )


def test_a_layer_of_another_kernel_or_pooling_is_refused() -> None:
    design = size_design([FITTED], n_cu=3, r=1)
    other = Shape(n=4, m=6, k=2, rows=8, columns=8)
    with pytest.raises(BadInput, match=r"^w: kernel size 2: the design is built for k = 3$"):
        check_fits(other, 1, design, "w")
    plain = Design(**(vars(design) | {"average": False}))
    with pytest.raises(BadInput, match=r"^w: average pooling: the design is built with average"):
        check_fits(FITTED, 1, plain, "w")


DESIGNED = HEAD + CONV + 'design = "a"\n'
BAD = {
    "": "file: network is missing",
    "x = 1\n" + HEAD + CONV: "file: unknown key 'x': allowed are network, layer, design",
    "network = 3\n": "file: network must be a table, not 3",
    HEAD: "file: layer is missing",
    HEAD + "layer = []\n": "network: unknown key 'layer': allowed are name, format, input",
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
        "network: format = 'bfloat61': must be one of binary32, bfloat16, binary16; "
        "did you mean bfloat16?"
    ),
    **{
        HEAD.replace("\n", f'\nformat = "{name}"\n', 1) + CONV: (
            f"network: format = '{name}': must be one of binary32, bfloat16, binary16; {hint}"
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
    HEAD + CONV.replace("conv1", "pool1"): (
        "layer 1: name = 'pool1': must be conv... or fc..., which tells the kind of layer"
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
    HEAD + CONV + "pad = 3\n": "layer conv1: pad = 3: must be a whole number from 0 to 2",
    HEAD + CONV + "groups = 3\n": (
        "layer conv1: groups = 3: must be a divisor of the 4 input maps"
    ),
    HEAD + CONV + "groups = 4\n": "layer conv1: groups = 4: must be a divisor of the 6 maps",
    HEAD + CONV + "strid = 2\n": (
        "layer conv1: unknown key 'strid': allowed are name, maps, relu, design, kernel, stride, "
        "pad, groups, pool; did you mean stride?"
    ),
    HEAD + CONV + "relu = 1\n": "layer conv1: relu = 1: must be true or false",
    HEAD + CONV + 'pool = { kind = "mean", window = 2 }\n': (
        "layer conv1: pool: kind = 'mean': must be one of max, average"
    ),
    HEAD + CONV + 'pool = { kind = "max", window = 5 }\n': (
        "layer conv1: pool: window = 5: must be no larger than the convolution's output (4 x 6)"
    ),
    HEAD + FC + "kernel = 1\n": (
        "layer fc2: unknown key 'kernel': allowed are name, maps, relu, design"
    ),
    DESIGNED: "layer conv1: design = 'a': must be one of none",
    DESIGNED + "[design.b]\nk = 3\nn_cu = 2\n": "layer conv1: design = 'a': must be one of b",
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
        "p, d, fused_dsp, fused_window, accumulator_precision, ku_lanes, mul_latency, add_latency, "
        "max_images, kernel_words, groups, row_words, max_size, max_maps, max_stride, fifo_words, "
        "pool_window, pool_overlap, pool_words, average; did you mean n_cu?"
    ),
    DESIGNED + '[design.a]\nk = 3\nn_cu = 2\ncu_kind = "tre"\n': (
        "design a: cu_kind = 'tre': must be one of tree, fused; did you mean tree?"
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
        "design a: fused_dsp, fused_window and accumulator_precision are for cu_kind fused, "
        "not tree"
    ),
    DESIGNED + "[design.a]\nk = 3\nn_cu = 2\nfused_window = 28\n": (
        "design a: fused_dsp, fused_window and accumulator_precision are for cu_kind fused, "
        "not tree"
    ),
    DESIGNED.replace("input =", 'format = "bfloat16"\ninput =')
    + '[design.a]\nk = 3\nn_cu = 2\ncu_kind = "fused"\n': (
        "design a: cu_kind fused is for binary32 only"
    ),
    DESIGNED + "[design.a]\nk = 5\nn_cu = 2\n": (
        "layer conv1: kernel size 3: the design is built for k = 5"
    ),
    DESIGNED + "[design.a]\nk = 3\nn_cu = 2\nmax_maps = 3\n": (
        "layer conv1: needs max_maps = 4: the design has max_maps = 3"
    ),
    HEAD + FC.replace("5", "40000") + 'design = "a"\n[design.a]\nk = 1\nn_cu = 64\n': (
        "design a: kernel memories of 7680000 elements: at most 4194304 are allowed; "
        "without a design the layer is traffic-only"
    ),
}


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
        "layer fc2: unknown key 'pad': allowed are name, maps, relu, design"
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


def test_an_unknown_layer_is_named_with_those_that_exist() -> None:
    network = open_network("digits")
    with pytest.raises(BadInput) as error:
        network.layer("conv3")
    assert str(error.value) == (
        "digits: no layer 'conv3': allowed are conv1, conv2, fc3; did you mean conv2?"
    )


def test_a_layer_without_a_design_is_traffic_only() -> None:
    network = open_network("alexnet")
    assert network.design(network.layer("conv4")) is network.designs["k3"]
    with pytest.raises(BadInput) as error:
        network.design(network.layer("fc6"))
    assert str(error.value) == (
        "alexnet: layer fc6 has no design (traffic only): "
        "allowed are conv1, conv2, conv3, conv4, conv5"
    )
