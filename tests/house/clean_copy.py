"""A copy of the project that has what the repository has, and nothing that lies about."""

import shutil
import subprocess
from pathlib import Path

from checkout import ROOT


def clean_copy(folder: Path) -> Path:
    """Copy git's files of the checkout, changed ones as they are now, to ``folder``.

    Without git it is an unpacked sdist, which has nothing else.
    """
    if not (ROOT / ".git").exists():
        return shutil.copytree(ROOT, folder)
    asked = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(asked, cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    for name in filter(None, names):
        source, target = ROOT / name.decode(), folder / name.decode()
        if source.exists():  # git also lists what was removed and not yet committed
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target)
    return folder
