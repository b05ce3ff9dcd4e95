"""Networks for a MAC array of 4 x 4 pixels of 4 maps: a layer that pools, and three classes."""

from network_text import layer, max_pool, network_text


def small_array(name: str, side: int, channels: int, maps: int) -> str:
    """The text of a network file.

    Args:
        side, channels: of what goes in. maps: of the first layer, whose windows of 3 x 3 leave maps
            as large, pooled by two.
    """
    return network_text(
        name,
        (side, side, channels),
        layer("conv1", maps, kernel=3, pad=1, pool=max_pool(2, 2), design="array"),
        layer("fc2", 3, relu=False, design="array"),
        designs={"array": {"architecture": "mac-array", "pox": 4, "poy": 4, "pof": 4}},
        format="fixed16",
    )
