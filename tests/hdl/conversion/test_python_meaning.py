"""The hardware of a block means what its Python means, or the converter says why it cannot."""

import importlib.util
import inspect
import re
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from side_by_side import LANGUAGES, verdicts

from merp.hdl.conversion.convert import ExportError, convert


def _corpus() -> Any:
    """The designs; their module stands beside this one, where no import finds it."""
    name = "python_meaning"
    if name not in sys.modules:
        path = Path(__file__).with_name(f"{name}.py")
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


DESIGNS, REFUSED = _corpus().DESIGNS, _corpus().REFUSED


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The verdicts on all designs by engine; each engine simulates them together, once."""
    folder = tmp_path_factory.mktemp("meaning")

    @cache
    def by_name(engine: str) -> dict[str, str]:
        return verdicts([each for designs in DESIGNS.values() for each in designs], engine, folder)

    return by_name


def test_each_idiom_has_variations_of_distinct_names() -> None:
    assert {name: len(designs) for name, designs in DESIGNS.items() if len(designs) < 3} == {}
    names = [each.name for designs in DESIGNS.values() for each in designs]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param("ghdl", marks=pytest.mark.ghdl),
        pytest.param("verilator", marks=pytest.mark.verilator),
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
    assert "python_meaning.py" in said
    assert re.search(rf"\bline {statement}\b", said)
    assert "\n" not in said
    assert list(tmp_path.iterdir()) == []
