"""The program of a process that runs boards.

``python -m merp.cosim.machines.cnn_merp.chain.board_process N`` starts it.

N is the number of the socket on which it receives its tasks. It sends ``READY`` when it is ready
for a task.
"""

import signal
import sys
from contextlib import suppress
from multiprocessing.connection import Connection

from merp.cosim.machines.cnn_merp.chain.beats import alive

READY = "ready"

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # its builds are removed
    with (
        suppress(KeyboardInterrupt, EOFError, ConnectionError),
        Connection(int(sys.argv[1])) as connection,
        alive(connection) as caller,
    ):
        from merp.cosim.machines.cnn_merp.chain.board_task import (
            serve,  # an interrupt may arrive while it loads
        )

        caller.send(READY)
        serve(caller)
