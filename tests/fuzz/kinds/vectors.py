"""Damage rows of test vectors."""

from pathlib import Path
from random import Random

import mutate
from harness import faults


def vectors(random: Random) -> list[str]:
    """Try changed rows of test vectors."""
    rows = []
    for _ in range(random.randrange(12)):
        digits = random.choice((8, 8, 8, 4))
        words = [f"{random.getrandbits(4 * digits):0{digits}X}" for _ in range(3)]
        rows.append(" ".join([*words, f"{random.getrandbits(5):02X}"]))
    text = "\n".join(rows) + "\n"
    if random.randrange(3):
        text = mutate.lines(random, text, random.choice(mutate.TEXTS))
    path = Path("in/vectors.txt")
    if random.randrange(4):
        path.write_text(text, errors="surrogatepass")
    else:
        path.write_bytes(mutate.content(random, text.encode("utf-8", "surrogatepass")))
    words = ["verify-float", "--op", random.choice(("add", "mul")), "--vectors", str(path)]
    if random.randrange(3) == 0:
        words += ["--format", random.choice(("binary32", "bfloat16", "binary16"))]
    return faults(words, allowed=(0, 1, 2))
