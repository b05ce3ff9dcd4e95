"""The ``merp`` command: finds the verb's module and maps errors to exit status.

Each verb is a module of its own with ``add_parser(subparsers)`` and ``run(args) -> int``. Only the
module of the verb in use is imported, so that a quick verb does not wait for a slow one's imports.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module, metadata
from pathlib import Path

from merp.cosim.build_cache import check_private
from merp.models.errors import BadInput
from merp.tools.common.arguments import Parser

VERBS = {
    "networks": "networks",
    "traffic": "traffic.verb",
    "simulate": "simulate.verb",
    "export": "export.verb",
    "registers": "registers",
    "resources": "resources.verb",
    "calibrate": "calibrate",
    "report": "report.verb",
    "workload": "workload.verb",
    "train": "train.verb",
    "losses": "losses",
    "verify-float": "verify_float",
}
"""Module of each verb in ``merp.tools``, in the order of the help page."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb.

    Returns 0: done, all checks hold; 1: a check failed; 2: bad input; 130: interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(arguments)
    except BadInput as error:
        print(f"merp: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # the reader of our output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141


def _run(arguments: Sequence[str]) -> int:
    if os.environ.get("NUMBA_CACHE_DIR"):  # numba runs what it finds there
        check_private(Path(os.environ["NUMBA_CACHE_DIR"]), "NUMBA_CACHE_DIR")
    parser = Parser(
        prog="merp", description="Hardware for CNN training, with its memory traffic counted."
    )
    parser.add_argument("--version", action="version", version=metadata.version("merp"))
    subparsers = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    asked = next((word for word in arguments if not word.startswith("-")), "")
    modules = {
        verb: import_module(f"merp.tools.{VERBS[verb]}")
        for verb in ([asked] if asked in VERBS else VERBS)
    }
    for module in modules.values():
        module.add_parser(subparsers)
    args = parser.parse_args(arguments)
    status: int = modules[args.verb].run(args)
    sys.stdout.flush()
    return status


if __name__ == "__main__":
    sys.exit(main())
