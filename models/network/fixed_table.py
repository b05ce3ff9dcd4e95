"""Read the fixed-point formats of a network file: rounding, and fractions of all and of layers."""

from __future__ import annotations

from collections.abc import Mapping

from merp.models.base.errors import BadInput
from merp.models.base.fixed import FIXED16, FixedFormat, Fractions
from merp.models.base.formats import FORMATS, FloatFormat
from merp.models.base.toml_section import Section
from merp.models.network.network_keys import FORMAT, FRACTION_INPUT, FRACTIONS, ROUNDING

LAYER_KEY = "fractions"
"""Key of a layer's own fractions."""


def read_numbers(
    root: Section, head: Section, layers: Mapping[str, Section]
) -> FloatFormat | FixedFormat:
    """Return the number format of a network.

    Args:
        root: of the whole file.
        head: [network].
        layers: the fractions of layers that have their own.

    Raises:
        BadInput: an unknown key, a value out of range, or fractions in a float network.
    """
    name = FORMAT.read(head)
    if name != FIXED16:
        given = [head.bad(ROUNDING.key, _only())] if head.has(ROUNDING.key) else []
        given += [root.bad(LAYER_KEY, _only())] if root.has(LAYER_KEY) else []
        for section in layers.values():
            given.append(BadInput(f"{section.file}: {section.where}: must be {_only()}"))
        if given:
            raise given[0]
        return FORMATS[name]
    rounding = ROUNDING.read(head)
    fraction, usual = FRACTION_INPUT.default or 0, Fractions()
    if root.has(LAYER_KEY):
        section = root.table(LAYER_KEY)
        section.where = LAYER_KEY
        fraction = FRACTION_INPUT.read(section)
        usual = _fractions(section, usual)
        section.finish()
    own = {layer: _fractions(section, usual) for layer, section in layers.items()}
    for section in layers.values():
        section.finish()
    return FixedFormat(input=fraction, usual=usual, layers=own, rounding=rounding)


def _only() -> str:
    return f'absent, or used with {FORMAT.key} = "{FIXED16}"'


def _fractions(section: Section, usual: Fractions) -> Fractions:
    return Fractions(
        **{key.key: key.read(section, default=getattr(usual, key.key)) for key in FRACTIONS}
    )


def check_outputs(file: str, numbers: FixedFormat, layer: str, front: str | None) -> None:
    """Refuse outputs of a layer with more fraction bits than its sums.

    Raises:
        BadInput: they have more; the message gives the layer and the largest value.
    """
    own = numbers.of(layer)
    taken = numbers.input if front is None else numbers.of(front).map
    if own.map > taken + own.kernel:
        raise BadInput(
            f"{file}: layer {layer}: fractions: map = {own.map}: must be at most "
            f"{taken + own.kernel}, the fraction bits of its input and its kernels together"
        )
