"""Damage folders of ``merp simulate -o``, in the verbs that read them."""

from functools import cache
from pathlib import Path
from random import Random

from damage import befall, laid, taken
from harness import clear, expect_good, faults
from kinds.networks import NET, NETWORK
from replay import replayed

RUN = ["simulate", str(NET), "--layer", "conv1", "--phase", "all", "-o"]


@cache
def finished() -> dict[str, bytes]:
    """Return the files of a run; the sandbox is empty before and after."""
    NET.write_text(NETWORK)
    expect_good([*RUN, "out/made"])
    found = taken(Path("out/made"))
    clear(Path("out"))
    return found


def results(random: Random) -> list[str]:
    """Try a damaged finished simulation: resumed, run again, or reported."""
    with replayed():
        files = finished()
        NET.write_text(NETWORK)
        laid(Path("in/elsewhere"), {"file": b"another's"})
        reported = random.randrange(3) == 0
        folder = (
            Path("in") / random.choice(("run", "a\nb", "$x", "é")) if reported else Path("out/run")
        )
        laid(folder, files)
        befall(random, folder, Path("in/elsewhere"))
        if reported:
            words = ["report", str(NET), "--measured", str(folder), "-o", "out/page.html"]
            return faults(words, allowed=(0, 1, 2))
        resume = ["--resume"] if random.randrange(4) else []
        found = faults([*RUN, str(folder), *resume])
    if taken(Path("in/elsewhere")) != {"file": b"another's"}:
        found.append("changed what a link leads to")
    return found
