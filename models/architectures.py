"""The architectures whose designs a network file may describe.

An architecture is a type of design and the reader of its table; its phases stand in
``cosim.architectures``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from merp.models.errors import BadInput
from merp.models.params.cnn_merp import design_keys
from merp.models.params.cnn_merp import design_section as cnn_merp
from merp.models.params.cnn_merp.design import Design as CnnMerpDesign
from merp.models.params.formats import FloatFormat
from merp.models.params.keys import Choice, Key
from merp.models.params.shape import Shape
from merp.models.params.storage import Storage
from merp.models.params.toml_section import Section

Design = CnnMerpDesign
"""A design of any architecture; a second one makes this a union. Of each a network asks for its
``summation``."""

READERS: Mapping[str, Callable[..., Design]] = {
    "cnn_merp": cnn_merp.read_design,
}
"""Reader of [design.<name>] by its ``architecture``; the first is meant where none is named."""

ARCHITECTURE = Choice(
    key="architecture",
    says="whose design it is",
    allowed=tuple(READERS),
    default=next(iter(READERS)),
)
KEYS: Mapping[str, tuple[Key, ...]] = {"cnn_merp": design_keys.KEYS}
"""Keys of [design.<name>] by its architecture."""


def read_design(
    section: Section,
    name: str,
    users: Mapping[str, Shape],
    fmt: FloatFormat,
    *,
    added: bool,
    storage: Storage | None,
) -> Design:
    """Read one [design.<name>], of whatever architecture.

    ``users``: the shapes of the layers that name it, by their names; ``added``: one of them adds
    the output of another layer to its sums. ``storage``: the network's.

    Raises:
        BadInput: no layer uses it, or the architecture's reader refuses it.
    """
    if not users:
        raise BadInput(f"{section.file}: design {name}: no layer uses it")
    return READERS[ARCHITECTURE.read(section)](
        section, name, users, fmt, added=added, storage=storage
    )
