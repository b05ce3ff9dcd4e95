"""``merp simulate`` over layers as real networks have them, in every phase and on every port."""

from pathlib import Path

import pytest

from terminal import Terminal

NETWORK = """
[network]
name = "kinds"
format = "bfloat16"
input = { rows = 19, columns = 16, channels = 2 }

[[layer]]
name = "conv1"                   # a stride above the kernel, on a larger kernel's units
maps = 3
kernel = 2
stride = 4
pad = [1, 0, 0, 1]
design = "k3"

[[layer]]
name = "conv2"                   # depthwise; pooling with a stride above its window
maps = 3
groups = 3
kernel = 3
pad = [0, 1, 1, 1]
pool = { kind = "max", window = 1, stride = 2 }
design = "k3"

[[layer]]
name = "conv3"                   # pointwise; the average of the whole map
maps = 4
kernel = 1
pool = { kind = "average", window = 2, stride = 5 }
design = "k3"

[[layer]]
name = "fc4"
maps = 3
relu = false
design = "k3"

[design.k3]
k = 3
n_cu = 2
r = 1
mul_latency = 1
add_latency = 2
"""

ROW = 'cu_kind = "fused"\nku_kind = "row"\nku_lanes = 3\n'


@pytest.mark.parametrize("fused", [False, True], ids=["tree", "fused"])
@pytest.mark.parametrize("resolution", ["sums", "pooled"])
def test_each_kind_of_layer_is_bit_exact_and_every_count_is_equal(
    tmp_path: Path, terminal: Terminal, fused: bool, resolution: str
) -> None:
    file = tmp_path / "kinds.toml"
    file.write_text(NETWORK.replace("bfloat16", "binary32") + ROW if fused else NETWORK)
    answer = terminal.answer(
        "simulate", file, "--layer", "all", "--phase", "all", "--images", "2",
        "--delta-at", resolution,
    )  # fmt: skip
    runs = {(run["layer"], run["phase"]): run for run in answer["runs"]}
    assert len(runs) == 4 + 3 + 4
    for run in runs.values():
        assert run["bit_exact"], run
        assert run["failures"] == []
