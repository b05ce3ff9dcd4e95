"""Which folder becomes which package; all else about the project stands in pyproject.toml.

The top-level folders install as ``merp.<folder>``, and ``tools/front`` with what is in it as
``merp`` itself, which pyproject.toml cannot say without naming every package.

An editable install runs each module from its own file. Type checkers import nothing: they follow
the links in ``.typing/merp``, which the install makes.
"""

import gzip
import os
import re
import tarfile
from contextlib import nullcontext
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.editable_wheel import editable_wheel
from setuptools.command.sdist import sdist

NAME = "merp"
FRONT = "tools/front"  # what ``import merp`` gives
FOLDERS = ("hdl", "models", "cosim", "testbenches", "tools")  # tests/ is not installed
PACKAGE_DIR = {NAME: FRONT} | {f"{NAME}.{folder}": folder for folder in FOLDERS}
LINKS = ".typing"
EPOCH = "SOURCE_DATE_EPOCH"  # time of every file in what is built, in seconds

FINDER = '''\
"""Finds the packages of a checkout, in place of the links that type checkers read."""

import sys
from importlib.util import spec_from_file_location
from os.path import isfile

LINKS = {links!r}
FOLDERS = {folders!r}


class Finder:
    """Finds ``merp`` and each folder in it at its own place."""

    @staticmethod
    def find_spec(name, target=None):
        folder = FOLDERS.get(name)
        if folder is None or not isfile(folder + "/__init__.py"):
            return None
        return spec_from_file_location(
            name,
            folder + "/__init__.py",
            submodule_search_locations=[folder] if "." in name else [folder, LINKS],
        )


def finder_of(entry):
    if entry != LINKS:
        raise ImportError
    return Finder


sys.path_hooks.insert(0, finder_of)
if LINKS not in sys.path:  # Python leaves out a folder that does not exist
    sys.path.append(LINKS)
'''


def lay_links(package: Path) -> None:
    """Make the package as a folder of links; those that are right stay as they are."""
    package.mkdir(parents=True, exist_ok=True)
    parts = (part.name for part in Path(FRONT).iterdir() if part.name != "__pycache__")
    for place in (*FOLDERS, *(f"{FRONT}/{part}" for part in parts)):
        link, target = package / Path(place).name, f"../../{place}"
        if not (link.is_symlink() and os.readlink(link) == target):
            link.unlink(missing_ok=True)
            link.symlink_to(target)


class Checkout(nullcontext):
    """What an editable wheel holds beside its metadata: a path file and the finder."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def __call__(self, wheel, files, mapping) -> None:
        """Write both; what else the command would map is not needed."""
        links = os.path.abspath(LINKS)
        folders = {package: os.path.abspath(folder) for package, folder in PACKAGE_DIR.items()}
        finder = re.sub(r"\W", "_", f"__editable__.{self.name}.finder")
        wheel.writestr(f"{finder}.py", FINDER.format(links=links, folders=folders))
        wheel.writestr(f"__editable__.{self.name}.pth", f"{links}\nimport {finder}\n")


class EditableWheel(editable_wheel):
    """Makes editable installs that type checkers can read.

    Type checkers read the path file alone: it names the folder of links. Python finds the same
    packages in their own folders, as the finder takes the place of the links on the path.
    """

    def _select_strategy(self, name, tag, build_lib):
        if self.mode:  # one of setuptools' own kinds was asked for
            return super()._select_strategy(name, tag, build_lib)
        try:
            lay_links(Path(LINKS, NAME))
        except OSError as error:  # Python needs no links
            self.warn(f"type checkers will not find {NAME}: {error}")
        return Checkout(name)


def always_alike(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """A member of the sdist without its builder, its time and the bits of the umask."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = int(os.environ[EPOCH])
    member.mode = 0o755 if member.isdir() or member.mode & 0o100 else 0o644
    return member


class ReproducibleSdist(sdist):
    """Packs the same bytes whenever, wherever and by whomever it is run."""

    def make_archive(self, base_name, format, root_dir=None, base_dir=None, **_):
        """Write ``base_name.tar.gz``, members in order."""
        if format != "gztar":
            raise SystemExit(f"sdist: format {format!r}: allowed is gztar")
        name = f"{base_name}.tar.gz"
        with (
            open(name, "wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=int(os.environ[EPOCH])) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            for path in sorted(Path(base_dir).rglob("*")):
                archive.add(path, recursive=False, filter=always_alike)
        return name


class ReproducibleWheel(bdist_wheel):
    """Packs files with the same permissions, whatever the umask of the checkout was."""

    def write_wheelfile(self, *args, **kwargs):
        """Write the last file of the metadata; then set the permissions of all files."""
        super().write_wheelfile(*args, **kwargs)
        for path in Path(self.bdist_dir).rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)


os.environ.setdefault(EPOCH, "315532800")  # 1980, the first year of a zip file
os.umask(0o022)  # metadata, which setuptools writes into a wheel itself
setup(
    cmdclass={
        "bdist_wheel": ReproducibleWheel,
        "editable_wheel": EditableWheel,
        "sdist": ReproducibleSdist,
    },
    packages=[
        NAME,
        *(f"{NAME}.{package}" for package in find_packages(FRONT)),
        *(
            f"{NAME}.{package}"
            for folder in FOLDERS
            for package in (folder, *(f"{folder}.{sub}" for sub in find_packages(folder)))
            if not f"{package}.".startswith(f"{FRONT.replace('/', '.')}.")
        ),
    ],
    include_package_data=False,  # MANIFEST.in is for the sdist
    package_dir=PACKAGE_DIR,
    package_data={"": ["py.typed", "*.json", "*.cpp", "*.h", "data/**/*"]},
)
