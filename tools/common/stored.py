"""What the words of a network are in memory, as answers and tables say it."""

from __future__ import annotations

from typing import Any

from merp.models.network.network import Network
from merp.models.params.storage import TENSORS, formats_of


def storage_answer(network: Network) -> dict[str, Any]:
    """Key of an answer: ``storage``, the format of each tensor, where the network gives any."""
    return {} if network.storage is None else {"storage": formats_of(network)}


def words_answer(network: Network) -> dict[str, Any]:
    """The same and ``word_bytes``, where it is that of all tensors."""
    word = word_bytes(network)
    return ({} if word is None else {"word_bytes": word}) | storage_answer(network)


def word_bytes(network: Network) -> int | None:
    """Bytes of an element in memory, whatever its tensor; None where they differ."""
    sizes = {network.stored(tensor).bytes for tensor in TENSORS}
    return sizes.pop() if len(sizes) == 1 else None


def stored_formats(network: Network) -> str:
    """The format of each tensor in words."""
    return ", ".join(f"{tensor} {name}" for tensor, name in formats_of(network).items())


def stored_notes(network: Network) -> list[str]:
    """A sentence of a caption on the storage that a network gives, or none."""
    return [] if network.storage is None else [f"In memory: {stored_formats(network)}."]
