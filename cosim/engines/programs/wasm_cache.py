"""The cache of YoWASP's tools: machine code of Yosys and nextpnr, loaded without a check."""

from __future__ import annotations

import os
from pathlib import Path

from merp.models.base.private_folder import check_private, make_private

NAMED = "YOWASP_CACHE_DIR"


def check_wasm_cache() -> None:
    """Make the folder, or refuse a folder where another user could have placed code.

    Raises:
        BadInput: as in ``check_private``.
    """
    from platformdirs import user_cache_dir  # optional: installed with the tools

    named = os.environ.get(NAMED)
    folder = Path(named or user_cache_dir("YoWASP", appauthor=False))
    name = NAMED if named else "YoWASP's cache"
    make_private(folder, name)
    check_private(folder, name)
