"""A package in Verilog: its files, its scripts, and its bench in Verilator alone."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from marks import in_full
from merp.cosim.engines.lint import lint
from merp.cosim.engines.simulators import find_verilator
from merp.tools.cli import main
from needed_tools import needs
from network_text import layer, network_text
from packages import manifest_of, tcl, verilator_bench

NETWORK = network_text(
    "tiny",
    (4, 4, 2),
    layer("conv1", 3, kernel=2, design="k2"),
    layer("conv2", 2, kernel=2, design="k2"),
    designs={"k2": {"k": 2, "n_cu": 2, "r": 1, "mul_latency": 1, "add_latency": 1}},
)


@pytest.fixture(scope="module", params=["fp", *in_full("dp", "ku")])
def exported(
    request: pytest.FixtureRequest, network_file: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    folder = tmp_path_factory.mktemp("exports")
    words = ["--layer", "conv2", "--phase", request.param, "--language", "verilog"]
    assert main(["export", str(network_file), *words, "-o", str(folder)]) == 0
    return folder / f"tiny-k2-{request.param}"


def test_every_file_of_hardware_and_bench_is_verilog(exported: Path) -> None:
    manifest = manifest_of(exported)
    assert manifest["language"] == "verilog"
    order = manifest["compile_order"]
    assert sorted(order) == sorted(
        path.relative_to(exported).as_posix() for path in exported.rglob("*.*v")
    )
    assert {Path(name).suffix for name in order} == {".v", ".sv"}
    assert not list(exported.rglob("*.vhd"))
    core = (exported / f"{manifest['top']}.core").read_text()
    assert re.findall(r"file_type: (\w*Verilog\w*|\w*verilog\w*)", core) == [
        "verilogSource", "verilogSource", "systemVerilogSource",
    ]  # fmt: skip
    assert [name for name in order if name not in core] == []
    project = (exported / "sim" / "bench.prj").read_text()
    assert re.findall(r"^(?:verilog|sv) work \.\./(.*)$", project, re.MULTILINE) == order
    page = (exported / "README.md").read_text()
    assert "VHDL" not in page
    assert "ghdl" not in page


@needs("tclsh")
def test_scripts_read_verilog(exported: Path) -> None:
    *inner, wrapper = [
        name for name in manifest_of(exported)["compile_order"] if name.startswith("hdl/")
    ]
    build, package = (tcl(exported / script) for script in ("build.tcl", "ip.tcl"))
    assert [call[1:] for call in build if call[0].startswith("read_v")] == [inner, [wrapper]]
    assert ["add_files", "-norecurse", *inner, wrapper] in package
    assert [call for call in package if "file_type" in call] == []


def test_every_memory_has_a_handle(exported: Path) -> None:
    handles = re.findall(r"^    (\w+) (\w+) auto$", (exported / "attributes.tcl").read_text(), re.M)
    assert len(handles) > 3
    for module, memory in handles:
        text = (exported / "hdl" / f"{module}.v").read_text()
        assert re.search(rf"^ *reg .*\b{memory} \[0:[^]]+\];", text, re.MULTILINE), (module, memory)


def test_the_top_names_its_interfaces(exported: Path) -> None:
    text = (exported / "hdl" / f"{manifest_of(exported)['top']}.v").read_text()
    assert text.count("X_INTERFACE_INFO = ") == len(re.findall(r"^    (?:in|out)put ", text, re.M))
    assert '"XIL_INTERFACENAME aresetn, POLARITY ACTIVE_LOW"' in text


@pytest.mark.verilator
def test_the_hardware_lints_clean_but_for_bits_waived_by_name(exported: Path) -> None:
    manifest = manifest_of(exported)
    hardware = [exported / name for name in manifest["compile_order"] if name.startswith("hdl/")]
    waivers = exported / "lint.vlt"
    assert lint(find_verilator(), manifest["top"], [waivers, *hardware], "-Wall") == ""
    waived = re.findall(r"^lint_off -rule (\w+) -file .* -match .*$", waivers.read_text(), re.M)
    assert [rule for rule in waived if rule != "UNUSEDSIGNAL"] == ["SYMRSVDWORD"]


@pytest.mark.verilator
def test_what_verilator_refuses_is_seen(exported: Path, tmp_path: Path) -> None:
    """An export of such text is refused."""
    shutil.copytree(exported, tmp_path / "package")
    order = manifest_of(exported)["compile_order"]
    files = [tmp_path / "package" / name for name in order]
    assert lint(find_verilator(), "bench", files) == ""
    files[-1].write_text(files[-1].read_text().replace(".aclk(aclk),", ""))
    assert "PINMISSING" in lint(find_verilator(), "bench", files)


def test_a_language_that_there_is_not_is_one_line(
    network_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--layer", "conv1", "--language", "chisel", "-o", str(tmp_path / "out")]
    with pytest.raises(SystemExit) as end:
        main(["export", str(network_file), *words])
    message = capsys.readouterr().err
    assert (end.value.code, message.count("\n")) == (2, 1)
    assert "choose from vhdl, verilog" in message.replace("'", "")
    assert not (tmp_path / "out").exists()


@pytest.fixture(scope="module")
def bench(
    exported: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[..., tuple[int, list[str]]]:
    """The bench of a copy."""
    return verilator_bench(
        shutil.copytree(exported, tmp_path_factory.mktemp("elsewhere") / "package")
    )


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize(
    "options",
    [(), ("+PAUSE=40", "+SEED=3"), ("+ABORT_AT=60",), ("+ABORT_AT=1", "+PAUSE=40")],
    ids=["full", "pauses", "abort", "early abort"],
)
def test_the_bench_passes_in_verilator_alone(
    options: tuple[str, ...], exported: Path, bench: Callable[..., tuple[int, list[str]]]
) -> None:
    status, lines = bench(*options)
    assert (status, "PASS" in lines) == (0, True), lines
    compared = manifest_of(exported)["vectors"]["small"]["words_compared"]
    counted = len((exported / "vectors" / "small" / "status.txt").read_text().splitlines())
    said = f", compared {compared}, wrong 0; registers compared {counted}, wrong 0"
    assert any(line.endswith(said) for line in lines), lines


@pytest.mark.full
@pytest.mark.verilator
@pytest.mark.parametrize(
    ("kind", "spoil", "said"),
    [
        ("m_axis", lambda w: [f"{int(w[0], 16) ^ 1:0{len(w[0])}x}", *w[1:]], ", word 0: "),
        ("m_axis", lambda w: w[:-1], "tlast must be '1'"),
        ("m_axis", lambda w: [*w, w[-1]], "output words are missing"),
        ("s_axis", lambda w: w[:-1], "no word moved for 300 cycles"),
        ("s_axis", lambda w: [*w, w[-1]], "some input words were not accepted"),
        ("status", lambda w: ["c 7 status", *w], "status: 00000002 instead of 00000007"),
        ("registers", lambda w: ["0 0 ident", *w], "write to 00000000: response 2"),
    ],
)
def test_the_bench_finds_what_is_planted(
    kind: str,
    spoil: Callable[[list[str]], list[str]],
    said: str,
    exported: Path,
    bench: Callable[..., tuple[int, list[str]]],
    tmp_path: Path,
) -> None:
    vectors = shutil.copytree(exported / "vectors" / "small", tmp_path / "vectors")
    path = min(vectors.glob(f"{kind}*.txt"))
    path.write_text("".join(f"{line}\n" for line in spoil(path.read_text().splitlines())))
    status, lines = bench(f"+VECTORS={vectors}", "+WATCHDOG=300")
    assert (status != 0, "FAIL" in lines, "PASS" in lines) == (True, True, False), lines
    assert any(said in line for line in lines), lines
