"""The ``merp`` command. It finds the module of the verb and maps errors to an exit status.

Each verb is a module with ``REQUEST`` and ``run(request) -> int``, in the folder that does its
work. Only the module of the given verb is imported. A quick verb therefore does not wait for the
imports of a slow one.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path

from merp.cosim.engines.programs import own_process
from merp.cosim.engines.programs.interrupts import (
    INTERRUPTING,
    interrupts_that_last,
    status_of,
    survive_interrupted_source,
)
from merp.models.base.errors import BadInput, CheckFailed
from merp.models.base.private_folder import check_private
from merp.tools.common.arguments import check_written, request_of
from merp.tools.common.command_line.parser import command_line, module_of
from merp.tools.common.complaint import ANY_LENGTH, complain
from merp.tools.common.last_resort import internal_error, refused_by_machine
from merp.tools.common.notices import collected
from merp.tools.common.streams import finish_output, lacks_reader, prepare_streams
from merp.tools.common.wide import tables_in_one_piece


def program() -> int:
    """Run the verb of this process's command line, and ignore signals after it has ended.

    Returns the exit status, as ``main`` does.
    """
    own_process.begin()
    status = main()
    if threading.current_thread() is threading.main_thread():
        for each in INTERRUPTING:
            signal.signal(each, signal.SIG_IGN)
    return status


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb. Every failure prints one line.

    Returns:
        0: done, and all checks hold.
        1: a check failed.
        2: bad input, or an output that cannot be written.
        3: an error of this program.
        129, 130, 143: ended by SIGHUP, SIGINT (Ctrl-C) or SIGTERM.
        141: nobody reads the output.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # it logs a warning if HOME is missing
    try:
        with interrupts_that_last(), collected() as notices:
            prepare_streams()
            status = _answered(arguments)
            for notice in notices if status != 2 else ():  # bad input gets one line
                complain(notice)
            return status
    except KeyboardInterrupt as error:
        survive_interrupted_source()
        for note in getattr(error, "__notes__", ()):
            complain(note, most=ANY_LENGTH)
        return status_of(error)
    finally:
        finish_output()


def _answered(arguments: Sequence[str]) -> int:
    """Run the verb and write all that it prints. Return the status of every end but a signal."""
    try:
        try:
            status = _run(arguments)
        except SystemExit:  # a help page was printed, or the command line was refused
            sys.stdout.flush()
            raise
        sys.stdout.flush()
        return status
    except BadInput as error:
        return _complain(str(error), 2)
    except CheckFailed as error:
        return _complain(str(error), 1)
    except Exception as error:
        if isinstance(error, BrokenPipeError) and lacks_reader():  # the reader has seen enough
            return 141
        if "--debug" in arguments:
            traceback.print_exc()
        refusal = refused_by_machine(error)
        if refusal is None:
            return _complain(internal_error(error), 3)
        return _complain(refusal, 2)


def _complain(message: str, status: int) -> int:
    complain(message)
    return status


def _run(arguments: Sequence[str]) -> int:
    if os.environ.get("NUMBA_CACHE_DIR"):  # numba executes the files of this folder
        check_private(Path(os.environ["NUMBA_CACHE_DIR"]), "NUMBA_CACHE_DIR")
    asked = next((word for word in arguments if not word.startswith("-")), "")
    args = command_line({asked}).parse_args(arguments)
    check_written(args)
    asked = request_of(args, arguments)
    with tables_in_one_piece(getattr(args, "wide", False)):
        try:
            status: int = module_of(args.verb).run(asked)
        except SystemExit as stop:  # raised by a library; its number is not a status of merp
            raise RuntimeError(f"a library ended the program: {stop}") from stop
    return status


if __name__ == "__main__":
    sys.exit(program())
