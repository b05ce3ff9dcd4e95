"""Make words of the command line."""

from random import Random

import mutate
from harness import faults

_VERBS = {
    "networks": ["--json"],
    "traffic": ["--batch", "--count", "--state-bits", "--memory", "--strategies", "--compare",
                "--layer", "--json"],
    "simulate": ["--layer", "--phase", "--delta-at", "--state", "--group", "--cus", "--images",
                 "--image", "--kernels", "--engine", "--cu-array", "--seed", "--resume", "--json"],
    "export": ["--layer", "--all", "--phase", "--state", "--images", "--part", "--clock", "--json"],
    "registers": ["--layer", "--phase", "--state", "--delta-at", "--images", "--json"],
    "resources": ["--layer", "--phase", "--part", "--whole", "--route", "--block", "--seeds",
                  "--json"],
    "calibrate": ["--layer", "--phase", "--json"],
    "report": ["--batch", "--part", "--clock", "--bandwidth", "--measured", "--json"],
    "layout": ["--images", "--momentum", "--board", "--all", "--json"],
    "system": ["--images", "--momentum", "--board", "--json"],
    "workload": ["--format", "--batch", "--json"],
    "train": ["--data", "--engine", "--batch", "--accumulate", "--steps", "--epochs", "--lr",
              "--momentum", "--weight-decay", "--loss", "--state-bits", "--seed", "--resume",
              "--json"],
    "predict": ["--weights", "--input", "--engine", "--labels", "--top", "--mean", "--std",
                "--json"],
    "evaluate": ["--weights", "--data", "--engine", "--loss", "--labels", "--held-out", "--json"],
    "losses": ["--json"],
    "sweep": ["--over", "--vary", "--for", "--architecture", "--simulate", "--board", "--devices",
              "--depth", "--scope", "--batch", "--clock", "--jobs", "--dask", "--json"],
    "cluster": ["--board", "--devices", "--images", "--depth", "--link-gbs", "--latency", "--loss",
                "--fifo", "--shared-fifo", "--scope", "--word", "--json"],
    "explore": ["--board", "--architecture", "--objectives", "--scope", "--batch", "--for",
                "--method", "--population", "--generations", "--seed", "--json"],
    "schema": [],
    "verify-float": ["--op", "--vectors", "--engine", "--format", "--json"],
}  # fmt: skip
_SLOW = (
    "simulate",
    "export",
    "registers",
    "system",
    "resources",
    "calibrate",
    "report",
    "train",
    "predict",
    "evaluate",
    "sweep",
    "cluster",
    "explore",
)


def options(random: Random) -> list[str]:
    """Try words after a verb; words after slow verbs name no existing network."""
    verb = random.choice(list(_VERBS))
    words = [verb]
    if verb in _SLOW:
        words.append(
            random.choice(("nothing", "in/nothing.toml", "alexnett", "", "a\nb", "x" * 300))
        )
    elif random.randrange(4):
        words.append("alexnet")
    for _ in range(random.randrange(5) if _VERBS[verb] else 0):
        words.append(random.choice(_VERBS[verb]))
        if random.randrange(4):
            text = random.choice((*mutate.TEXTS, *map(str, mutate.NUMBERS)))
            words.append(text if random.randrange(3) or not text else f"--{text}")
    if random.randrange(6) == 0:
        random.shuffle(words)
    # No slow work by a lucky order, and files only at named places.
    words = [word for word in words if not word.startswith(("-o", "--o"))]
    if any(word in _SLOW for word in words):
        words = [
            "nothing" if word in ("alexnet", "digits", "in/net.toml") else word for word in words
        ]
    return faults([*words, "-o", "out/made"] if random.randrange(8) == 0 else words)
