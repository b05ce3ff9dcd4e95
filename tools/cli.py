"""The ``merp`` command: finds the verb's module and maps errors to exit status.

Each verb is a module of its own with ``add_parser(subparsers)`` and ``run(args) -> int``. Only the
module of the verb in use is imported, so that a quick verb does not wait for a slow one's imports.
"""

from __future__ import annotations

import argparse
import errno
import logging
import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module, metadata
from pathlib import Path
from types import ModuleType

from merp.cosim.build_cache import check_private
from merp.models.errors import BadInput, one_line
from merp.tools.common.arguments import Parser
from merp.tools.common.last_resort import internal_error
from merp.tools.common.streams import drop_output, prepare_streams

VERBS = (
    "networks", "traffic", "simulate", "export", "registers", "resources", "calibrate", "report",
    "workload", "train", "losses", "verify-float",
)  # fmt: skip
"""In the order of the help page; each is a module of ``merp.tools.verbs``."""


NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What the system says of an output that it does not take."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; whatever happens, the complaint is one line.

    Returns 0: done, all checks hold; 1: a check failed; 2: bad input, or an output that cannot be
    written; 3: an error of this program; 130: interrupted; 141: nobody reads the output.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    prepare_streams()
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it speaks up where there is no HOME
    try:
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
    except BadInput as error:
        return _complain(str(error), 2)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has seen enough
        drop_output()
        return 141
    except Exception as error:
        if "--debug" in arguments:
            traceback.print_exc()
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            drop_output()
            what = error.filename or "an output"
            return _complain(f"{what}: cannot be written: {error.strerror}", 2)
        return _complain(internal_error(error), 3)


def module_of(verb: str) -> ModuleType:
    """The module of a verb."""
    return import_module(f"merp.tools.verbs.{verb.replace('-', '_')}")


def _complain(message: str, status: int) -> int:
    print(f"merp: {one_line(message)}", file=sys.stderr)
    return status


def _run(arguments: Sequence[str]) -> int:
    if os.environ.get("NUMBA_CACHE_DIR"):  # numba runs what it finds there
        check_private(Path(os.environ["NUMBA_CACHE_DIR"]), "NUMBA_CACHE_DIR")
    parser = Parser(
        prog="merp", description="Hardware for CNN training, with its memory traffic counted."
    )
    parser.add_argument("--version", action="version", version=metadata.version("merp"))
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    asked = next((word for word in arguments if not word.startswith("-")), "")
    modules = {verb: module_of(verb) for verb in ([asked] if asked in VERBS else VERBS)}
    for module in modules.values():
        module.add_parser(subparsers)
    for each in (parser, *subparsers.choices.values()):
        each.add_argument(
            "--debug", action="store_true", default=argparse.SUPPRESS,
            help="show the traceback of an internal error",
        )  # fmt: skip
    args = parser.parse_args(arguments)
    status: int = modules[args.verb].run(args)
    return status


if __name__ == "__main__":
    sys.exit(main())
