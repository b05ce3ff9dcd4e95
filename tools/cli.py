"""The ``merp`` command: finds the verb's module and maps errors to exit status.

Each verb is a module of its own with ``add_arguments(parser)`` and ``run(args) -> int``. Only the
module of the verb in use is imported, so that a quick verb does not wait for a slow one's imports.
"""

from __future__ import annotations

import logging
import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

from merp.cosim.build_cache import check_private
from merp.models.errors import BadInput, CheckFailed
from merp.tools.command_line import command_line, module_of
from merp.tools.common.complaint import complain
from merp.tools.common.interrupts import interrupts_that_last, survive_interrupted_source
from merp.tools.common.last_resort import internal_error, refused_by_machine
from merp.tools.common.streams import drop_output, prepare_streams
from merp.tools.common.wide import tables_in_one_piece


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb; whatever happens, the complaint is one line.

    Returns 0: done, all checks hold; 1: a check failed; 2: bad input, or an output that cannot be
    written; 3: an error of this program; 130: interrupted; 141: nobody reads the output.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it speaks up where there is no HOME
    try:
        prepare_streams()
        try:
            with interrupts_that_last():
                return _run(arguments)
        finally:
            sys.stdout.flush()
    except BadInput as error:
        return _complain(str(error), 2)
    except CheckFailed as error:
        return _complain(str(error), 1)
    except KeyboardInterrupt:
        survive_interrupted_source()
        return 130
    except BrokenPipeError:  # the reader of our output has seen enough
        drop_output()
        return 141
    except Exception as error:
        if "--debug" in arguments:
            traceback.print_exc()
        refusal = refused_by_machine(error)
        if refusal is None:
            return _complain(internal_error(error), 3)
        drop_output()
        return _complain(refusal, 2)


def _complain(message: str, status: int) -> int:
    complain(message)
    return status


def _run(arguments: Sequence[str]) -> int:
    if os.environ.get("NUMBA_CACHE_DIR"):  # numba runs what it finds there
        check_private(Path(os.environ["NUMBA_CACHE_DIR"]), "NUMBA_CACHE_DIR")
    asked = next((word for word in arguments if not word.startswith("-")), "")
    args = command_line({asked}).parse_args(arguments)
    with tables_in_one_piece(getattr(args, "wide", False)):
        status: int = module_of(args.verb).run(args)
    return status


if __name__ == "__main__":
    sys.exit(main())
