"""Which folder becomes which package; all else about the project stands in pyproject.toml.

The top-level folders install as ``merp.<folder>``, and ``tools/front`` with what is in it as
``merp`` itself, which pyproject.toml cannot say without naming every package.
"""

from setuptools import find_packages, setup

NAME = "merp"
FRONT = "tools/front"  # what ``import merp`` gives
FOLDERS = ("hdl", "models", "cosim", "testbenches", "tools")  # tests/ is not installed

setup(
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
    package_dir={NAME: FRONT} | {f"{NAME}.{folder}": folder for folder in FOLDERS},
    package_data={package: ["py.typed"] for package in (NAME, *(f"{NAME}.{f}" for f in FOLDERS))}
    | {
        f"{NAME}.tools": ["py.typed", "data/*", "data/boards/*", "data/export/*"],
        f"{NAME}.models.comparison": ["unit_costs.json"],
        f"{NAME}.models.papers": ["data/*"],
        f"{NAME}.testbenches.top": ["*.cpp", "*.h"],
    },
)
