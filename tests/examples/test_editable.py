"""An editable install: Python and type checkers find the files of the checkout."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from clean_copy import clean_copy

pytestmark = pytest.mark.full

USE = """
import merp
from merp.models.base import errors
from merp.models import fresh
from merp.library.load import networks

reveal_type(merp.load)
reveal_type(networks)
reveal_type(errors.BadInput)
reveal_type(fresh.one())
"""
PRINTED = "import merp, merp.models.base.errors as e; print(merp.__file__, e.__file__, sep='\\n')"


@dataclass(frozen=True)
class Installed:
    """A checkout, and an environment that has it as an editable install."""

    checkout: Path
    python: Path
    folder: Path

    def run(self, *words: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Python with these words, in a folder that is not the checkout."""
        kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
        return subprocess.run(
            [self.python, *words], cwd=self.folder, env=kept | variables,
            capture_output=True, text=True, check=False,
        )  # fmt: skip


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("editable")
    checkout = clean_copy(folder / "my checkout")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "env")], check=True)
    made = Installed(checkout, folder / "env" / "bin" / "python", folder)
    done = made.run("-m", "pip", "install", "--quiet", "--no-deps", "-e", checkout)
    assert done.returncode == 0, done.stderr
    subprocess.run(["make", "clean"], cwd=checkout, check=True, capture_output=True)
    return made


def test_python_runs_the_files_of_the_checkout(installed: Installed) -> None:
    done = installed.run("-c", PRINTED)
    front, errors = done.stdout.splitlines()
    assert front == str(installed.checkout / "tools" / "front" / "__init__.py")
    assert errors == str(installed.checkout / "models" / "base" / "errors.py")


def test_a_type_checker_sees_it_and_a_module_that_is_new(installed: Installed) -> None:
    (installed.checkout / "models" / "fresh.py").write_text("def one() -> int:\n    return 1\n")
    use = installed.folder / "use.py"
    use.write_text(USE)
    checker = [sys.executable, "-m", "mypy", "--python-executable", str(installed.python)]
    done = subprocess.run(
        [*checker, "--no-incremental", use.name], cwd=use.parent, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
    load, networks, error, one = done.stdout.splitlines()[:4]
    assert "merp.library.network.Network" in load
    assert '"def () -> ' in networks
    assert "merp.models.base.errors.BadInput" in error
    assert one.endswith('"int"')


def test_another_tree_on_the_path_goes_first(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "merp").mkdir()
    (tmp_path / "merp" / "__init__.py").write_text("")
    done = installed.run("-c", "import merp; print(merp.__file__)", PYTHONPATH=str(tmp_path))
    assert done.stdout.strip() == str(tmp_path / "merp" / "__init__.py")


def test_python_needs_no_links(installed: Installed) -> None:
    links = installed.checkout / ".typing"
    links.rename(links.with_name("away"))
    done = installed.run("-c", PRINTED)
    links.with_name("away").rename(links)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[1] == str(installed.checkout / "models" / "base" / "errors.py")


def test_nothing_of_it_is_left_in_the_environment(installed: Installed) -> None:
    done = installed.run("-m", "pip", "uninstall", "--yes", "merp")
    assert done.returncode == 0, done.stderr
    room = installed.python.parents[1]
    assert [path for path in room.rglob("*merp*") if path.is_file()] == []
    done = installed.run("-c", "import merp")
    assert "No module named 'merp'" in done.stderr
    assert done.stderr.count("Traceback") == 1
