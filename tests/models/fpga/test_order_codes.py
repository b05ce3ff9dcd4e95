"""Order codes: families that are known, and what is said of others."""

import pytest

from merp.models.base.errors import BadInput
from merp.models.fpga.board import ORIGINS
from merp.models.fpga.order_codes import FAMILIES, known_part, part_named, target_named
from merp.models.fpga.parts import KNOWN, PARTS, RAMB36_BITS, listed

CODES = {
    "xc7s50csga324-1": "spartan7",
    "xc7a35ticsg324-1L": "artix7",
    "xc7a200tsbg484-1": "artix7",
    "xc7k325tffg900-2": "kintex7",
    "xc7k410tffg900-2L": "kintex7",
    "xc7vx485tffg1761-2": "virtex7",
    "xc7v2000tflg1925-1": "virtex7",
    "xc7vh580thcg1155-2": "virtex7",
    "xc7z020clg484-1": "zynq",
    "xc7z007sclg225-1": "zynq",
    "xc7z045ffg900-2": "zynq",
    "xcku040-ffva1156-2-e": "kintexu",
    "xcvu095-ffva2104-2-e": "virtexu",
    "xcau25p-ffvb676-2-e": "artixuplus",
    "xcku5p-ffvb676-2-e": "kintexuplus",
    "xcvu9p-flga2104-2L-e": "virtexuplus",
    "xczu3eg-sfvc784-1-i": "zynquplus",
    "xczu7ev-ffvc1156-2-e": "zynquplus",
    "xczu28dr-ffvg1517-2-e": "zynquplus",
}


@pytest.mark.parametrize(("code", "family"), CODES.items())
def test_a_code_names_its_family(code: str, family: str) -> None:
    target = target_named(code)
    assert (target.order_code, target.family.name) == (code, family)
    assert (target.part is None) == (not code.startswith(tuple(PARTS)))


def test_every_family_is_met() -> None:
    assert {family.name for family in FAMILIES} == set(CODES.values())
    assert all(target_named(family.example).family == family for family in FAMILIES)


@pytest.mark.parametrize("name", PARTS)
def test_a_device_of_the_paper_has_a_usual_code(name: str) -> None:
    target = target_named(name)
    assert (target.order_code, target.part) == (PARTS[name].order_code, PARTS[name])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("xcvm1802-vsva2197-2MP-e-S", "allowed are xc7k325t, .*Zynq UltraScale"),
        ("LFE5U-85F", "allowed are xc7k325t"),
        ("xc7k32t", "did you mean xc7k325t"),
        ("xc7a12t", "order code of Artix-7 with package and speed grade, as xc7a200tsbg484-1"),
        ("xc7a200tsbg484", "order code of Artix-7"),
        ("xcku040-ffva1156-2", "order code of Kintex UltraScale with"),
        ("xc7k325t; exit", "allowed is an order code of Kintex-7"),
        ("xc7k325tffg900-2\n", "allowed is an order code of Kintex-7"),
        ("", "allowed are"),
    ],
)
def test_what_is_no_code_is_told_of_in_one_line(name: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        target_named(name)


@pytest.mark.parametrize(
    ("spelled", "code"),
    [
        ("XC7Z020CLG400-1", "xc7z020clg400-1"),
        ("xc7z020-clg400-1", "xc7z020clg400-1"),
        ("XC7Z020-CLG400-1", "xc7z020clg400-1"),
        ("XC7Z020-1CLG400C", "xc7z020clg400-1"),
        ("xc7k410tffg900-2l", "xc7k410tffg900-2L"),
        ("XCZU9EG-2FFVB1156E", "xczu9eg-ffvb1156-2-e"),
        ("XCVU9P-FLGA2104-2l-E", "xcvu9p-flga2104-2L-e"),
    ],
)
def test_a_code_is_spelled_in_several_ways(spelled: str, code: str) -> None:
    assert target_named(spelled).order_code == code


@pytest.mark.parametrize(
    ("name", "device"),
    [
        ("xc7a35ticsg324-1L", "xc7a35t"), ("XC7Z100", "xc7z100"), ("xczu5ev", "xczu5ev"),
        ("lfe5um5g-45f-8bg381c", "LFE5UM5G-45F"), ("LFE5UM-45F-6MG285I", "LFE5UM-45F"),
        ("5sgsd8", "5SGSD8"), ("xc7s50csga324-1", None), ("LFE5U-12F-6BG256C", None),
        ("LFE5U-85F-BG381", None), ("xc7z020clg400-1 ", None), ("xc7\u212a325t", None), ("", None),
    ],
)  # fmt: skip
def test_a_name_has_a_known_capacity_or_none(name: str, device: str | None) -> None:
    part = known_part(name)
    assert (part and part.name) == device


def test_parts_of_other_vendors_have_no_estimate() -> None:
    assert set(KNOWN) - set(PARTS) >= {"5SGSD8", "1SG280", "LFE5U-25F", "LFE5UM5G-85F"}
    with pytest.raises(BadInput, match=r"LFE5U-85F: allowed are xc7k325t, .*xczu2cg to xczu9eg"):
        part_named("LFE5U-85F")


def test_capacities_are_of_data_sheets() -> None:
    """DS190, DS180, DS891, FPGA-DS-02012: LUT, FF, block RAM, DSP."""
    for name, counts in {
        "xc7z010": (17_600, 35_200, 60, 80), "xc7z020": (53_200, 106_400, 140, 220),
        "xc7a35t": (20_800, 41_600, 50, 90), "xc7a100t": (63_400, 126_800, 135, 240),
        "xczu3eg": (70_560, 141_120, 216, 360), "xczu7ev": (230_400, 460_800, 312, 1728),
        "xczu9eg": (274_080, 548_160, 912, 2520), "LFE5U-85F": (83_640, 83_640, 208, 156),
    }.items():  # fmt: skip
        part = KNOWN[name]
        assert (part.luts, part.flip_flops, part.block_rams, part.dsps) == counts


def test_every_part_is_complete() -> None:
    for name, part in KNOWN.items():
        assert part.source, name
        assert part.family, name
        assert part.origin in ORIGINS, name
        assert name in listed([name])
        assert part.planned == (part.block_bits == RAMB36_BITS)
        assert part.luts > part.dsps, name
        if part.planned:  # a CLB of AMD has two flip-flops for each LUT
            assert part.flip_flops == 2 * part.luts, name
            assert part.configuration_bits % 32 == 0, name


def test_a_long_family_is_listed_as_a_range() -> None:
    assert listed(["xc7a35t", "xc7a50t"]) == "xc7a35t, xc7a50t"
    artix = [name for name in PARTS if name.startswith("xc7a")]
    assert listed([*artix, "xcvu440"]) == "xc7a35t to xc7a200t, xcvu440"
