"""Order codes: families that are known, and what is said of others."""

import pytest

from merp.models.base.errors import BadInput
from merp.models.fpga.order_codes import FAMILIES, target_named
from merp.models.fpga.parts import PARTS

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
        ("xc7a100t", "order code of Artix-7 with package and speed grade, as xc7a200tsbg484-1"),
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
