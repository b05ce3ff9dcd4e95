"""The storage formats of a network, as answers and tables show them."""

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
    """Return the key ``storage`` of an answer: the format of each tensor, if the network sets
    any."""
    return {} if network.storage is None else {"storage": network.storage.names()}


def words_answer(network: Network) -> dict[str, Any]:
    """Return ``storage_answer``, and ``word_bytes`` if all tensors have the same."""
    word = word_bytes(network)
    return ({} if word is None else {"word_bytes": word}) | storage_answer(network)


def word_bytes(network: Network) -> int | None:
    """Return the bytes of an element in memory; None if the tensors differ."""
    if network.storage is None:
        return network.numbers.bytes
    sizes = {network.stored(tensor).bytes for tensor in TENSORS} | {network.stored_input.bytes}
    return sizes.pop() if len(sizes) == 1 else None


def stored_formats(network: Network) -> str:
    """Return the format of each tensor as text."""
    assert network.storage is not None
    return ", ".join(f"{tensor} {name}" for tensor, name in network.storage.names().items())


def format_facts(stored: StoredFormat) -> dict[str, Any]:
    """Return a format in memory for programs: widths of its fields, or the scale of bytes."""
    if isinstance(stored, ByteImage):
        return {"scale": str(stored.scale), "offset": str(stored.offset)}
    return asdict(stored)


def format_of_facts(facts: Mapping[str, Any]) -> StoredFormat:
    """Return the format of its facts.

    Raises:
        TypeError, ValueError: these are not facts of a format.
    """
    if "scale" in facts:
        return ByteImage.of(Fraction(facts["scale"]), Fraction(facts["offset"]))
    return FloatFormat(**facts)


def bits_in_words(stored: StoredFormat) -> str:
    """Describe the bits of an element."""
    if isinstance(stored, ByteImage):
        return f"a byte, with the value {stored.scale} * byte + {stored.offset}"
    return (
        f"{stored.width} bits: sign, {stored.exp_bits} of exponent, {stored.frac_bits} of fraction"
    )


def stored_notes(network: Network) -> list[str]:
    """Return a sentence for captions about the storage of a network; none if it sets no format."""
    return [] if network.storage is None else [f"In memory: {stored_formats(network)}."]
