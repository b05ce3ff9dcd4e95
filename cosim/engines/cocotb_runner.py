"""Start the programs of a cocotb runner in a ``Children`` group, like all other programs."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from os import PathLike
from typing import IO, Any

from merp.cosim.engines.programs.children import Children


def runner_in(children: Children, runner: Any) -> Any:
    """Return a runner that starts its programs in ``children`` from now on."""

    def execute(
        commands: Sequence[Sequence[str]], cwd: PathLike[str], stdout: IO[str] | None = None
    ) -> None:
        """Replace the runner's own method, which would start the commands outside the group."""
        stderr = None if stdout is None else subprocess.STDOUT
        for command in commands:
            status = children.call(command, cwd=cwd, env=runner.env, stdout=stdout, stderr=stderr)
            if status:
                raise RuntimeError(f"Command failed with return code: {status}")

    runner._execute_cmds = execute
    return runner
