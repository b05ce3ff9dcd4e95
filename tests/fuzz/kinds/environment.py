"""Run processes in unusual environments."""

import os
import shlex
import subprocess
import sys
from random import Random

from harness import answered
from kinds.networks import NET, NETWORK

NASTY = ("", "/dev/null", "/dev/null/x", "/", "C", "POSIX", "C.UTF-8", "xx_YY", "0", "-1", "99999",
         "9" * 30, "dumb", "x", "\udcff", "in/net.toml", "a" * 5000)  # fmt: skip
NAMES = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "MPLCONFIGDIR", "LC_ALL", "LANG",
         "COLUMNS", "LINES", "TERM", "NO_COLOR", "FORCE_COLOR", "MERP_CACHE", "NUMBA_CACHE_DIR",
         "PYTHONUTF8", "TZ", "USER")  # fmt: skip
ENDS = ("", "", ">&-", "<&-", "<&- >&- 2>&-", "2>&-", "> /dev/full", "2> /dev/full",
        "> /dev/full 2> /dev/full", "| head -c 1")  # fmt: skip
LIMITS = ("", "", "", "ulimit -f 0;", "ulimit -f 1;", "ulimit -n 16;", "ulimit -c 0;",
          "mkdir out/gone; cd out/gone; rmdir ../gone;")  # fmt: skip


def environment(random: Random) -> list[str]:
    """Try a process with unexpected variables, streams and limits."""
    surroundings = dict(os.environ)
    for name in NAMES:
        kind = random.randrange(5)
        if kind == 0:
            surroundings.pop(name, None)
        elif kind == 1:
            surroundings[name] = random.choice(NASTY)
    if surroundings.get("PYTHONUTF8") not in ("0", "1"):  # Python itself refuses it
        surroundings.pop("PYTHONUTF8", None)
    encodings = ("ascii", "latin-1", "utf-8", "utf-8:strict", "")
    surroundings["PYTHONIOENCODING"] = random.choice(encodings)
    NET.write_text(NETWORK)
    net = shlex.quote(str(NET.absolute()))
    out = shlex.quote(str(NET.parent.with_name("out").absolute()))
    verb = random.choice(
        [
            f"networks {net}", "networks", f"traffic {net}", "nothing", f"traffic {net} --batch x",
            f"workload {net} --format zigzag -o {out}/made", f"registers {net} --layer conv1",
            f"networks {net} --json", f"losses {out} -o {out}/x.svg", "--help", "--version",
            "traffic é\udcff", f"registers {net} --layer conv1 -o {out}/made",
        ]
    )  # fmt: skip
    command = f"{random.choice(LIMITS)} {sys.executable} -m merp.tools.cli {verb}"
    command += f" {random.choice(ENDS)}"
    done = subprocess.run(
        ["/bin/sh", "-c", command], env=surroundings, capture_output=True, text=True,
        errors="replace", stdin=subprocess.DEVNULL,
    )  # fmt: skip
    piped = command.endswith("-c 1")  # then the status is the reader's
    status = 2 if piped and done.stderr else done.returncode
    found = answered(status, done.stderr, (0, 2, 141))
    if "2>" in command:  # nothing can be said
        found = [each for each in found if "with 0 lines of complaint" not in each]
    return [f"{each}: {command}" for each in found]
