"""The program of a process that plays one board: ``python -m merp.cosim.cluster.board_process N``.

N is the number of the socket on which it gets its task.
"""

import sys
from multiprocessing.connection import Connection

from merp.cosim.cluster.board_task import play

if __name__ == "__main__":
    with Connection(int(sys.argv[1])) as caller:
        play(caller.recv(), caller)
