"""What the words of a network are in memory, as answers and tables say it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any

from merp.models.base.byte_image import ByteImage
from merp.models.base.formats import FloatFormat
from merp.models.base.storage import TENSORS, StoredFormat
from merp.models.network.network import Network


def storage_answer(network: Network) -> dict[str, Any]:
    """Key of an answer: ``storage``, the format of each tensor, where the network gives any."""
    return {} if network.storage is None else {"storage": network.storage.names()}


def words_answer(network: Network) -> dict[str, Any]:
    """The same and ``word_bytes``, where it is that of all tensors."""
    word = word_bytes(network)
    return ({} if word is None else {"word_bytes": word}) | storage_answer(network)


def word_bytes(network: Network) -> int | None:
    """Bytes of an element in memory, whatever its tensor; None where they differ."""
    if network.storage is None:
        return network.numbers.bytes
    sizes = {network.stored(tensor).bytes for tensor in TENSORS} | {network.stored_input.bytes}
    return sizes.pop() if len(sizes) == 1 else None


def stored_formats(network: Network) -> str:
    """The format of each tensor in words."""
    assert network.storage is not None
    return ", ".join(f"{tensor} {name}" for tensor, name in network.storage.names().items())


def format_facts(stored: StoredFormat) -> dict[str, Any]:
    """A format in memory, for machines: widths of its fields, or what bytes stand for."""
    if isinstance(stored, ByteImage):
        return {"scale": str(stored.scale), "offset": str(stored.offset)}
    return asdict(stored)


def format_of_facts(facts: Mapping[str, Any]) -> StoredFormat:
    """The format again.

    Raises:
        TypeError, ValueError: these are no facts of one.
    """
    if "scale" in facts:
        return ByteImage.of(Fraction(facts["scale"]), Fraction(facts["offset"]))
    return FloatFormat(**facts)


def bits_in_words(stored: StoredFormat) -> str:
    """What the bits of an element are."""
    if isinstance(stored, ByteImage):
        return f"a byte, which stands for {stored.scale} * byte + {stored.offset}"
    return (
        f"{stored.width} bits: sign, {stored.exp_bits} of exponent, {stored.frac_bits} of fraction"
    )


def stored_notes(network: Network) -> list[str]:
    """A sentence of a caption on the storage that a network gives, or none."""
    return [] if network.storage is None else [f"In memory: {stored_formats(network)}."]
