"""The hardware of a block means what its Python means, or the converter says why it cannot."""

import inspect
import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from idioms.cases import DESIGNS, REFUSED
from merp.hdl.conversion.convert import ExportError, convert
from side_by_side import LANGUAGES, verdicts

THEMES = """
    reported_numbers reported_widths sums_and_shifts quotients signs unlike_numbers slices vectors
    truths built_in_functions constants helpers children control counted_bits variables assignments
    bundles lists registers rounding codes filters arguments enums_at_ports statements random_finds
    refused
""".split()
"""The modules of ``idioms``; their order is that of the tests."""

for theme in THEMES:
    import_module(f"idioms.{theme}")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The verdicts on all designs by engine; each engine simulates them together, once."""
    folder = tmp_path_factory.mktemp("meaning")

    @cache
    def by_name(engine: str) -> dict[str, str]:
        return verdicts([each for designs in DESIGNS.values() for each in designs], engine, folder)

    return by_name


def test_each_idiom_has_variations_of_distinct_names() -> None:
    modules = {path.stem for path in Path(__file__).with_name("idioms").glob("*.py")}
    assert {*THEMES, "cases", "__init__"} == modules
    assert {name: len(designs) for name, designs in DESIGNS.items() if len(designs) < 3} == {}
    names = [each.name for designs in DESIGNS.values() for each in designs]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param("ghdl", marks=pytest.mark.ghdl),
        pytest.param("verilator", marks=[pytest.mark.verilator, pytest.mark.full]),
    ],
)
@pytest.mark.parametrize("idiom", DESIGNS)
def test_hardware_means_what_python_means(idiom: str, engine: str, found: Any) -> None:
    verdict = found(engine)
    unequal = [name for each in DESIGNS[idiom] if verdict[name := each.name] != "equal"]
    assert not unequal, "".join(f"\n{name} {verdict[name]}" for name in unequal)


@pytest.mark.parametrize("hdl", LANGUAGES.values())
@pytest.mark.parametrize("name", REFUSED)
def test_says_which_statement_has_no_hardware(name: str, hdl: Any, tmp_path: Path) -> None:
    design = REFUSED[name]
    lines, first = inspect.getsourcelines(design.function.func)
    statement = next(first + at for at, line in enumerate(lines) if "# refused" in line)
    with pytest.raises(ExportError) as raised:
        convert(design.function, design.make(), hdl, tmp_path)
    said = str(raised.value)
    assert name in said
    assert "refused.py" in said
    assert re.search(rf"\bline {statement}\b", said)
    assert "\n" not in said
    assert list(tmp_path.iterdir()) == []
