"""``merp completion``: scripts that shells take, and what bash then offers."""

import shutil
import subprocess
from pathlib import Path

import pytest

from merp.tools.common.command_line.completion_verb import SHELLS, script
from merp.tools.common.command_line.verbs import VERBS
from merp.tools.common.shipped import shipped_names
from terminal import Terminal


@pytest.mark.sample(1)
@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_knows_verbs_options_and_networks(shell: str, terminal: Terminal) -> None:
    text = terminal.output("completion", shell)
    assert text == script(shell) + "\n"
    assert all(word in text for word in (*VERBS, *shipped_names(), "count", "conv5_3"))
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=text, text=True, check=True)


OFFERED = {
    "merp tra": "traffic train",
    "merp traffic alexnet-": "alexnet-1group alexnet-avg alexnet-bf16 alexnet-kernel1",
    "merp traffic --count b": "board bus",
    "merp simulate lenet5 --pha": "--phase",
    "merp simulate alexnet --layer conv5_": "conv5_1 conv5_2 conv5_3 conv5_4",
    "merp networks mi": "mine.toml mind.onnx",
    "merp train digits --data d": "digits",
    "merp help rooflin": "roofline",
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("words", OFFERED)
def test_what_bash_offers(words: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").touch()
    (tmp_path / "mind.onnx").touch()
    (tmp_path / "misery.txt").touch()
    asked = (
        f"COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); COMPREPLY=()\n"
        "_shtab_merp; echo ${COMPREPLY[*]}"
    )
    done = subprocess.run(
        ["bash", "-c", f"{script('bash')}\n{asked}"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == OFFERED[words]
