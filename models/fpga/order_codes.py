"""Order codes of FPGAs: the family, and the device, if its capacity is known.

source: DS180, DS190, DS890 and the product tables of UltraScale+ ("ordering information"); families
by the names that Vivado gives them (UG1118, `supported_families`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from difflib import get_close_matches

from merp.models.base.errors import BadInput
from merp.models.base.given import given
from merp.models.fpga.parts import DEFAULT, PARTS, Part


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

_OLD_PACKAGE = r"[a-z]{2,4}\d{3,4}-[123](L|LI|Q|M)?"
_NEW_PACKAGE = r"-[a-z]{4}\d{3,4}-[123](L|LV|H)?-[ceiqm]"


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
        """Clock of the paper's engine on that part, or, if the paper has none, on the paper's own
        part.
        """
        return (self.part or PARTS[DEFAULT]).clock_mhz


def target_named(name: str) -> FlowTarget:
    """Return the target of an order code, or of a device of the paper.

    Raises:
        BadInput: ``name`` is neither.
    """
    code = PARTS[name].order_code if name in PARTS else name
    for family in FAMILIES:
        package = _NEW_PACKAGE if family.dashes else _OLD_PACKAGE
        found = re.fullmatch(f"(?P<device>{family.device}){package}", code)
        if found:
            return FlowTarget(code, family, PARTS.get(found["device"]))
    near = "".join(f"; did you mean {n}?" for n in get_close_matches(name, PARTS, 1))
    for family in FAMILIES:
        if re.match(f"{family.device}(?![0-9])", code):
            raise BadInput(
                f"{given('part', name)}: allowed is an order code of {family.title} with package "
                f"and speed grade, as {family.example}{near}"
            )
    titles = ", ".join(family.title for family in FAMILIES)
    raise BadInput(
        f"{given('part', name)}: allowed are {', '.join(PARTS)}, and order codes of {titles}, "
        f"as {FAMILIES[1].example}{near}"
    )


def part_named(name: str) -> Part:
    """Return the part whose device or order code is ``name``; the part's ``order_code`` shows
    which.

    Raises:
        BadInput: its capacity is not known.
    """
    try:
        target = target_named(name)
    except BadInput:
        target = None
    if target is not None and target.part is not None:
        return replace(target.part, order_code=target.order_code)
    near = "".join(f"; did you mean {n}?" for n in get_close_matches(name, PARTS, 1))
    raise BadInput(
        f"{given('part', name)}: allowed are {', '.join(PARTS)}, each with its package and speed "
        f"grade ({PARTS[DEFAULT].order_code}) or without{near}"
    )
