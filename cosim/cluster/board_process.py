"""The program of a process that plays boards: ``python -m merp.cosim.cluster.board_process N``.

N is the number of the socket on which it gets its tasks.
"""

import sys
from contextlib import suppress
from multiprocessing.connection import Connection

if __name__ == "__main__":
    with suppress(KeyboardInterrupt), Connection(int(sys.argv[1])) as caller:
        from merp.cosim.cluster.board_task import serve  # an interrupt may come while it loads

        serve(caller)
