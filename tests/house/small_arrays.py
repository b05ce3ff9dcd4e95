"""Networks for a MAC array of 4 x 4 pixels of 4 maps: a layer that pools, and three classes."""

from __future__ import annotations


def small_array(name: str, side: int, channels: int, maps: int) -> str:
    """The text of a network file.

    Args:
        side, channels: of what goes in. maps: of the first layer, whose windows of 3 x 3 leave maps
            as large, pooled by two.
    """
    return f"""
[network]
name = "{name}"
format = "fixed16"
input = {{ rows = {side}, columns = {side}, channels = {channels} }}

[[layer]]
name = "conv1"
maps = {maps}
kernel = 3
pad = 1
pool = {{ kind = "max", window = 2, stride = 2 }}
design = "array"

[[layer]]
name = "fc2"
maps = 3
relu = false
design = "array"

[design.array]
architecture = "mac-array"
pox = 4
poy = 4
pof = 4
"""
