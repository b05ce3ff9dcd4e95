"""The choice of layers of a network: ``conv``, ``all``, or names."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

from merp.models.base.errors import BadInput, shown
from merp.models.base.given import mention
from merp.models.network.network import Network
from merp.tools.common.kinds import Text
from merp.tools.common.request import option

CONV, ALL = "conv", "all"


def scope_field(**more: Any) -> Any:
    """Declare ``--scope``."""
    return option(
        Text(),
        "conv, all, or names of layers, separated by commas (default %(default)s)",
        "--scope",
        default=CONV,
        metavar="LAYERS",
        **more,
    )


def scope_of(network: Network, text: str) -> tuple[str, ...]:
    """Return the names of the chosen layers, in the network's order.

    Raises:
        BadInput: a name is unknown, or the network has no convolution.
    """
    names = [layer.name for layer in network.layers]
    if text == ALL:
        return tuple(names)
    if text == CONV:
        found = tuple(layer.name for layer in network.layers if layer.kind == "conv")
        if not found:
            raise BadInput(f"{mention('scope', text)}: {network.name} has no convolution: try all")
        return found
    wanted = text.split(",")
    for name in wanted:
        if name not in names:
            allowed = (CONV, ALL, *names)
            hint = "".join(f"; did you mean {n}?" for n in get_close_matches(name, allowed, 1))
            raise BadInput(
                f"{mention('scope', shown(name))}: allowed are {', '.join(allowed)}, or several "
                f"layers as {','.join(names[:2])}{hint}"
            )
    return tuple(name for name in names if name in wanted)
