"""The notebooks run to their end, and the repository has them without outputs."""

from pathlib import Path
from typing import Any

import nbformat
import pytest

from checkout import ROOT
from needed_tools import needs

NOTEBOOKS = [ROOT / "examples" / "notebooks" / f"{name}.ipynb" for name in ("layer", "traffic")]


def read(path: Path) -> Any:
    """A notebook."""
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def left_over(notebook: Any) -> list[str]:
    """What a run left in a notebook: cells with outputs or counts, data on the machine."""
    cells = [
        cell.id
        for cell in notebook.cells
        if cell.cell_type == "code" and (cell.outputs or cell.execution_count is not None)
    ]
    return (
        cells
        + [f"{cell.id}: metadata" for cell in notebook.cells if cell.metadata]
        + [
            f"metadata: {key}"
            for key, allowed in {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
                "language_info": {"name": "python"},
            }.items()
            if notebook.metadata.get(key) != allowed
        ]
    )


def executed(path: Path, folder: Path) -> Any:
    """The notebook, run in ``folder``."""
    from nbclient import NotebookClient

    notebook = read(path)
    resources = {"metadata": {"path": str(folder)}}
    return NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources=resources
    ).execute()


def test_there_is_no_other_notebook() -> None:
    assert sorted(ROOT.glob("examples/**/*.ipynb")) == NOTEBOOKS


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_repository_has_no_outputs(path: Path) -> None:
    assert left_over(read(path)) == []


@pytest.mark.full
@needs("nbclient")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_to_its_end(path: Path, tmp_path: Path) -> None:
    done = executed(path, tmp_path)
    code = [cell for cell in done.cells if cell.cell_type == "code"]
    assert [cell.id for cell in code if cell.execution_count is None] == []
    assert all(cell.outputs for cell in code)  # each shows something
    assert sum("image/png" in out.get("data", {}) for cell in code for out in cell.outputs) == 2
    assert list(tmp_path.iterdir()) == []
    assert left_over(done) != []
