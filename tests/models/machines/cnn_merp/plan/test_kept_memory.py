"""A search keeps the memory that its arrays free."""

import subprocess
import sys


def test_a_second_search_fetches_next_to_no_pages() -> None:
    """Without, some 4,000: in a process of its own, as any large array of before would do."""
    code = (
        "import resource\n"
        "from merp.models.machines.cnn_merp.plan.plan import plan\n"
        "from merp.tools.common.boards import open_board\n"
        "from merp.tools.common.shipped import open_network\n"
        "network, board = open_network('vgg16'), open_board('kc705')\n"
        "def faults(): return resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
        "plan(network, board)\n"
        "before = faults()\n"
        "plan(network, board)\n"
        "print(faults() - before)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(said.stdout) < 400
