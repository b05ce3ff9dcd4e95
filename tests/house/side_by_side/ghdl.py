"""The verdicts of GHDL on exported designs."""

from collections.abc import Sequence

from merp.hdl.conversion.convert import Port
from side_by_side.engine import BrokenError, Engine
from side_by_side.ghdl_bench import TOOLS, bench_of, bench_of_all
from side_by_side.job import Job, Row
from side_by_side.verdict import first_error, verdict_of


class Ghdl(Engine):
    """GHDL: a library and a bench for each design, and a bench that instantiates all of them."""

    def verdicts(self, jobs: Sequence[Job]) -> dict[str, str]:
        """Analyse each design, run all of them together, or one by one if that breaks."""
        (self.place / "tools.vhd").write_text(TOOLS, encoding="ascii")
        self._ghdl("-a", "tools.vhd")
        found: dict[str, str] = {}
        fine: list[Job] = []
        for job in jobs:
            try:
                self._analyse(job)
                fine.append(job)
            except BrokenError as error:
                found[job.name] = f"invalid: {first_error(str(error))}"
        if not fine:
            return found
        (self.place / "bench.vhd").write_text(bench_of_all(fine), encoding="ascii")
        self._ghdl("-a", "bench.vhd")
        try:
            self._run("bench")
            return found | {job.name: verdict_of(job, self._seen(job)) for job in fine}
        except BrokenError:
            return found | {job.name: self._verdict_alone(job) for job in fine}

    def _analyse(self, job: Job) -> None:
        rows = ("".join(row) for row in job.rows(job.inputs))
        (self.place / f"{job.name}.in").write_text("".join(f"{row}\n" for row in rows))
        bench = f"bench_{job.name}.vhd"
        (self.place / bench).write_text(bench_of(job), encoding="ascii")
        self._ghdl("-a", f"--work=lib_{job.name}", *self.files(job))
        self._ghdl("-a", bench)

    def _verdict_alone(self, job: Job) -> str:
        try:
            self._run(f"bench_{job.name}")
        except BrokenError as error:
            said = str(error)
            kind = "invalid" if "truncated" in said else "differs"
            return f"{kind}: {first_error(said)}"
        return verdict_of(job, self._seen(job))

    def _run(self, bench: str) -> None:
        """Elaborate and run a bench.

        Raises:
            BrokenError: it does not come to its end, or a value was cut.
        """
        # Inputs are undefined until the first one.
        said = self._ghdl("-r", bench, options=("--ieee-asserts=disable-at-0",))
        if "vector truncated" in said:
            raise BrokenError(said)

    def _seen(self, job: Job) -> list[Row]:
        """The outputs, as the bench has written them."""
        lines = (self.place / f"{job.name}.out").read_text().splitlines()
        return [_cut(job.outputs, line) for line in lines]

    def _ghdl(self, verb: str, *args: str, options: Sequence[str] = ()) -> str:
        return self.call(["ghdl", verb, "--std=08", "-P.", *args, *options], None)


def _cut(ports: Sequence[Port], bits: str) -> Row:
    """The bits of each port, out of those of all."""
    at, found = 0, []
    for port in ports:
        found.append(bits[at : at + (port.width or 1)])
        at += port.width or 1
    return tuple(found)
