"""Read ``storage`` of a network file: formats of tensors in memory, and their use by designs."""

from __future__ import annotations

from collections.abc import Sequence

from merp.models.base.byte_image import ByteImage
from merp.models.base.errors import BadInput
from merp.models.base.formats import FORMATS, FloatFormat
from merp.models.base.storage import BYTE, TENSORS, Storage, StoredFormat, stored_name, within
from merp.models.base.toml_section import Section
from merp.models.network.network_keys import IMAGE, IMAGE_OFFSET, IMAGE_SCALE, STORAGE


def read_storage(section: Section, fmt: FloatFormat) -> Storage | None:
    """Return the formats of the tensors in memory; None if all are those of the arithmetic.

    Raises:
        BadInput: a format whose numbers are not all numbers of ``fmt``, or an unknown key.
    """
    found = dict.fromkeys(TENSORS, fmt)
    for tensor, key in zip(TENSORS, STORAGE, strict=True):
        if section.has(key.key):
            name = key.read(section)
            if name not in within(fmt):
                allowed = ", ".join(within(fmt))
                raise section.bad(key.key, f"one of {allowed}: format holds all their numbers")
            found[tensor] = FORMATS[name]
    image = _image(section, fmt)
    section.finish()
    storage = Storage(**found, image=None if image == found["maps"] else image)
    plain = storage.image is None and all(storage.of(tensor) == fmt for tensor in TENSORS)
    return None if plain else storage


def _image(section: Section, fmt: FloatFormat) -> StoredFormat | None:
    """Return the format of the image in memory, if it has its own."""
    name = IMAGE.read(section) if section.has(IMAGE.key) else None
    for key in (IMAGE_SCALE, IMAGE_OFFSET):
        if section.has(key.key) and name != BYTE:
            raise section.bad(key.key, f'absent, or used with {IMAGE.key} = "{BYTE}"')
    if name is None:
        return None
    if name != BYTE:
        if name not in within(fmt):
            allowed = ", ".join((*within(fmt), BYTE))
            raise section.bad(IMAGE.key, f"one of {allowed}: format holds all their numbers")
        return FORMATS[name]
    scale = IMAGE_SCALE.read(section)
    if scale <= 0:
        raise section.bad(IMAGE_SCALE.key, "above 0")
    image = ByteImage.of(scale, IMAGE_OFFSET.read(section))
    try:
        image.words(fmt)
    except ValueError as error:
        raise BadInput(f"{section.file}: {section.where}: image: {error}") from error
    return image


def of_design(
    file: str, key: str, users: Sequence[str], first: str, storage: Storage | None
) -> Storage | None:
    """Return the storage formats for the layers ``users`` of a design; ``first`` takes the image.

    Raises:
        BadInput: the design runs the first layer and others, and their inputs have different
            formats.
    """
    if storage is None or storage.image is None or first not in users:
        return storage and storage.between_layers
    if list(users) != [first]:
        others = ", ".join(name for name in users if name != first)
        raise BadInput(
            f"{file}: design {key}: {first} takes an image that is stored as "
            f"{stored_name(storage.image)}, {others} maps that are not: allowed is a design for "
            f"{first} alone"
        )
    return storage
