"""Damage network files, in the verbs that read nothing else."""

from pathlib import Path
from random import Random

import mutate
from harness import faults

NETWORK = """
[network]
name = "tiny"
format = "binary32"
input = { rows = 6, columns = 5, channels = 1 }

[[layer]]
name = "conv1"
maps = 2
kernel = 3
stride = 1
pad = 1
groups = 1
activation = "relu6"
pool = { kind = "max", window = 2, stride = 2 }
design = "k3"

[[layer]]
name = "fc2"
maps = 3
relu = false

[design.k3]
k = 3
n_cu = 2
r = 1
p = 1
d = 2
mul_latency = 1
add_latency = 2
"""
DERIVED = """
base = "lenet5"
[network]
name = "mine"
[layer.conv1]
maps = 8
[design.k5]
r = 1
"""
NET = Path("in/net.toml")


def toml(random: Random) -> list[str]:
    """Try a network file, sometimes with a shipped base."""
    text = NETWORK
    if random.randrange(8) == 0:
        text = DERIVED
    kind = random.randrange(6)
    if kind < 3:
        NET.write_text(mutate.values(random, text), errors="surrogatepass")
    elif kind < 5:
        changed = mutate.lines(random, text, mutate.toml_value(random))
        NET.write_text(changed, errors="surrogatepass")
    else:
        NET.write_bytes(mutate.content(random, text.encode()))
    verbs = [
        ["traffic", str(NET), "--json"],
        ["traffic", str(NET), "--count", random.choice(("full", "all", "board", "bus"))],
        ["traffic", str(NET), "--strategies"],
        ["layout", str(NET), "--json"],
        ["networks", str(NET)],
        ["networks", str(NET), "--json"],
        ["workload", str(NET), "--format", random.choice(("scalesim", "zigzag", "timeloop")),
         "-o", "out/made"],
    ]  # fmt: skip
    return faults(random.choice(verbs))
