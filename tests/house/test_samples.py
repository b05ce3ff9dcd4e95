"""Which cases of a sampled test ``make test`` runs."""

from pathlib import Path

import pytest
from samples import mark_the_rest

TESTS = """
import pytest

@pytest.mark.sample(3)
@pytest.mark.parametrize("case", [*range(7), pytest.param(7, marks=pytest.mark.full)])
def test_many(case): ...

@pytest.mark.sample(3)
@pytest.mark.parametrize("case", range(2))
def test_few(case): ...

@pytest.mark.parametrize("case", range(4))
def test_all(case): ...
"""


class Collected:
    """A plugin that marks the items of another session, and keeps them."""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        mark_the_rest(items)
        self.quick = [item.name for item in items if not item.get_closest_marker("full")]


def test_a_sample_is_evenly_spaced(tmp_path: Path) -> None:
    (tmp_path / "test_sampled.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  sample(N)\n  full\n")
    found = Collected()
    quiet = ["-q", "--collect-only", "-p", "no:unraisableexception"]  # it collects all garbage
    pytest.main([*quiet, "--rootdir", str(tmp_path), str(tmp_path)], [found])
    many = [f"test_many[{case}]" for case in (0, 2, 4)]
    assert found.quick == [*many, *(f"test_few[{case}]" for case in range(2)),
                           *(f"test_all[{case}]" for case in range(4))]  # fmt: skip
