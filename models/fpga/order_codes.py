"""Order codes of FPGAs: the family, and the device, if its capacity is known.

A code may be spelled as in Vivado (``xc7z020clg400-1``) or as on the chip (``XC7Z020-1CLG400C``),
in upper or lower case.

source: DS180, DS190, DS890 and the product tables of UltraScale+ ("ordering information");
FPGA-DS-02012 for ECP5. Families have the names of Vivado (UG1118, `supported_families`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import NamedTuple

from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.fpga.parts import DEFAULT, KNOWN, PARTS, Part, listed


@dataclass(frozen=True)
class Family:
    """Devices for which one flow of Vivado builds.

    Attributes:
        name: as in Vivado.
        title: as in data sheets.
        device: pattern of its devices' names.
        example: an order code.
        dashes: whether dashes precede package and temperature, as from UltraScale on.
    """

    name: str
    title: str
    device: str
    example: str
    dashes: bool


FAMILIES = (
    Family("spartan7", "Spartan-7", r"xc7s\d{1,3}", "xc7s50csga324-1", False),
    Family("artix7", "Artix-7", r"xc7a\d{2,3}ti?", "xc7a200tsbg484-1", False),
    Family("kintex7", "Kintex-7", r"xc7k\d{2,3}ti?", "xc7k325tffg900-2", False),
    Family("virtex7", "Virtex-7", r"xc7v[xh]?\d{3,4}t", "xc7vx485tffg1761-2", False),
    Family("zynq", "Zynq-7000", r"xc7z\d{3}[si]?", "xc7z020clg484-1", False),
    Family("kintexu", "Kintex UltraScale", r"xcku\d{3}", "xcku040-ffva1156-2-e", True),
    Family("virtexu", "Virtex UltraScale", r"xcvu\d{3}", "xcvu440-flga2892-2-e", True),
    Family("artixuplus", "Artix UltraScale+", r"xcau\d{1,2}p", "xcau25p-ffvb676-2-e", True),
    Family("kintexuplus", "Kintex UltraScale+", r"xcku\d{1,2}p", "xcku5p-ffvb676-2-e", True),
    Family("virtexuplus", "Virtex UltraScale+", r"xcvu\d{1,2}p", "xcvu9p-flga2104-2L-e", True),
    Family(
        "zynquplus", "Zynq UltraScale+", r"xczu\d{1,2}(cg|eg|ev|dr)", "xczu9eg-ffvb1156-2-e", True
    ),
)

_OLD = (
    r"-?(?P<package>[a-z]{2,4}\d{3,4})-(?P<speed>[123](L|LI|Q|M)?)",  # as in Vivado
    r"-(?P<speed>[123])(?P<package>[a-z]{2,4}\d{3,4})[cei]?",  # as on the chip
)
_NEW = (
    r"-(?P<package>[a-z]{4}\d{3,4})-(?P<speed>[123](L|LV|H)?)-(?P<grade>[ceiqm])",
    r"-(?P<speed>[123])(?P<package>[a-z]{4}\d{3,4})(?P<grade>[cei])",
)
_ECP5 = re.compile(
    r"(?P<device>lfe5u(m|m5g)?-\d{2}f)-[678][a-z]{2}\d{3}[ci]?", re.ASCII | re.IGNORECASE
)


class _Code(NamedTuple):
    """An order code, spelled as in Vivado."""

    family: Family
    device: str
    code: str


def _code(name: str) -> _Code | None:
    """Return the order code ``name`` of one of ``FAMILIES``, if it is one."""
    for family in FAMILIES:
        for pattern in _NEW if family.dashes else _OLD:
            device = f"(?P<device>{family.device})"
            found = re.fullmatch(device + pattern, name, re.ASCII | re.IGNORECASE)
            if found:
                device, package = found["device"].lower(), found["package"].lower()
                speed = found["speed"].upper()
                if not family.dashes:
                    return _Code(family, device, f"{device}{package}-{speed}")
                grade = found["grade"].lower()
                return _Code(family, device, f"{device}-{package}-{speed}-{grade}")
    return None


def known_part(name: str) -> Part | None:
    """Return the part whose device or order code is ``name``; None if its capacity is not known.

    The part's ``order_code`` is the code, if ``name`` is one.
    """
    devices = {device.lower(): part for device, part in KNOWN.items()}
    part = devices.get(name.lower()) if name.isascii() else None
    if part is not None:
        return part
    if (lattice := _ECP5.fullmatch(name)) is not None:
        part, code = devices.get(lattice["device"].lower()), name.upper()
    elif (found := _code(name)) is not None:
        # A device of the 7 series with I-grade supplies has the capacity of the device without.
        part, code = devices.get(found.device.removesuffix("i")), found.code
    return None if part is None else replace(part, order_code=code)


@dataclass(frozen=True)
class FlowTarget:
    """The FPGA for which a flow builds.

    Attributes:
        order_code: with package and speed grade.
        part: the device, or None if its capacity is not known here.
    """

    order_code: str
    family: Family
    part: Part | None

    @property
    def clock_mhz(self) -> float:
        """Clock of the engine on that part, or, if its capacity is not known, on the paper's."""
        return (self.part or PARTS[DEFAULT]).clock_mhz


def family_of(name: str) -> Family | None:
    """Return the family of an order code; None if Vivado does not build for it."""
    found = _code(name)
    return None if found is None else found.family


def target_named(name: str) -> FlowTarget:
    """Return the target of an order code, or of a device whose capacity is known.

    Raises:
        BadInput: ``name`` is neither.
    """
    part = known_part(name)
    found = _code(name if part is None else part.order_code)
    if found is not None:
        return FlowTarget(found.code, found.family, part)
    near = _near(name)
    for family in FAMILIES:
        if re.match(f"{family.device}(?![0-9])", name, re.ASCII | re.IGNORECASE):
            raise BadInput(
                f"{given('part', name)}: allowed is an order code of {family.title} with package "
                f"and speed grade, as {family.example}{near}"
            )
    titles = ", ".join(family.title for family in FAMILIES)
    raise BadInput(
        f"{given('part', name)}: allowed are {listed(PARTS)}, and order codes of {titles}, "
        f"as {FAMILIES[1].example}{near}"
    )


def part_named(name: str) -> Part:
    """Return the part, covered by our estimates, whose device or order code is ``name``.

    Raises:
        BadInput: its capacity is not known, or our estimates do not cover it.
    """
    part = known_part(name)
    if part is None or not part.planned:
        raise BadInput(
            f"{given('part', name)}: allowed are {listed(PARTS)}, each with its package and speed "
            f"grade ({PARTS[DEFAULT].order_code}) or without{_near(name)}"
        )
    return part


def _near(name: str) -> str:
    return "".join(f"; did you mean {near}?" for near in get_close_matches(name, PARTS, 1))
