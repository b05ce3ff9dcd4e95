"""Every block's page has one stage of the datapath in the site's navigation."""

from pathlib import Path

import pytest

from checkout import BLOCK_PAGES
from stages import staged


def test_every_page_of_a_block_has_one_stage() -> None:
    pages = [page for pages in staged(BLOCK_PAGES).values() for page in pages]
    assert sorted(pages) == sorted(
        path.relative_to(BLOCK_PAGES) for path in BLOCK_PAGES.rglob("*.md")
    )


@pytest.mark.parametrize(
    ("stages", "told"),
    [
        ({"A": ("room/one",)}, "in no stage: room/two.md"),
        ({"A": ("room",), "B": ("room/one",)}, "stage B: room/one: no page, or in a stage before"),
        ({"A": ("room", "hall")}, "stage A: hall: no page, or in a stage before"),
    ],
)
def test_a_page_without_a_stage_or_with_two_is_told(
    stages: dict[str, tuple[str, ...]], told: str, tmp_path: Path
) -> None:
    (tmp_path / "room").mkdir()
    for name in ("one", "two"):
        (tmp_path / "room" / f"{name}.md").touch()
    with pytest.raises(ValueError, match=told):
        staged(tmp_path, stages)
