"""What the verbs of the command line are for: all that its help says without importing them."""

from __future__ import annotations

from dataclasses import dataclass

GROUPS = {
    "understand": "understand traffic, throughput and layers",
    "simulate": "simulate the hardware",
    "build": "build hardware",
    "train": "train",
    "models": "take models from elsewhere, and give them back",
    "help": "get help",
}
"""Headings of the verbs in ``merp --help``, in its order."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """A command line after ``merp``, and what it is good for; whether it takes seconds at most."""

    words: str
    says: str
    quick: bool = True


@dataclass(frozen=True, kw_only=True)
class Verb:
    """A verb of the command line.

    Attributes:
        group: of ``GROUPS``.
        room: in ``tools``, that does its work; there its module is called after it, ``_verb``
            behind.
        line: of the overview. description: of its own page.
        examples: two.
    """

    group: str
    room: str
    line: str
    description: str
    examples: tuple[Example, Example]


VERBS = {
    "networks": Verb(
        group="understand",
        room="networks",
        line="list networks, their layers and designs",
        description=(
            "Lists the shipped networks; or a network's layers with their sizes, and the designs "
            "that they run on, parameter by parameter."
        ),
        examples=(
            Example(words="networks", says="what is shipped"),
            Example(words="networks alexnet", says="AlexNet's layers and designs"),
        ),
    ),
    "traffic": Verb(
        group="understand",
        room="traffic",
        line="memory traffic per layer and phase",
        description=(
            "Computes memory traffic by formula, in MB and MB/GFlop, on one of three counts "
            "(merp help count); for AlexNet beside what the paper prints, and where it errs."
        ),
        examples=(
            Example(
                words="traffic alexnet --strategies", says="what each strategy saves and costs"
            ),
            Example(words="traffic alexnet --compare vgg16", says="two networks side by side"),
        ),
    ),
    "plan": Verb(
        group="understand",
        room="plan",
        line="a network on a board: passes that fit its FPGA",
        description=(
            "Plans a training step on a board: for each layer and phase the tiles that fit the "
            "part's memory, the bytes of all passes, cycles, seconds and what binds them; each "
            "bitstream beside the part; the whole step in seconds and images a second. Modelled."
        ),
        examples=(
            Example(words="plan alexnet --board kc705", says="AlexNet on the KC705"),
            Example(
                words="plan vgg16 --board zc706 --batch 32 --for time",
                says="tiles for time, not for bytes",
            ),
        ),
    ),
    "boards": Verb(
        group="understand",
        room="comparison",
        line="boards, their parts, and where each figure comes from",
        description=(
            "Lists the shipped boards; or the figures of one, each with where it comes from: a "
            "paper, a data sheet, other figures, or an assumption."
        ),
        examples=(
            Example(words="boards", says="what is shipped"),
            Example(words="boards vc709", says="every figure of one, and why"),
        ),
    ),
    "map": Verb(
        group="understand",
        room="comparison",
        line="one architecture's plan of a network on a board",
        description=(
            "Places a training step on a board by the rules of one architecture, CNN-MERP's or "
            "another paper's, and prints its record: cycles, bytes and resources of every layer "
            "and phase, and how each number came about."
        ),
        examples=(
            Example(words="map alexnet --architecture cnn-merp", says="on its paper's part"),
            Example(
                words="map lenet5 --architecture cnn-merp --board zc706 --scope all --strict",
                says="on another board, and only if it fits",
            ),
        ),
    ),
    "compare": Verb(
        group="understand",
        room="comparison",
        line="several architectures on one network, side by side",
        description=(
            "Plans the same training step by several architectures, each on its paper's board or "
            "all on one, and shows throughput, traffic on three counts and resources side by "
            "side, every number with its level: printed, computed, modelled, assumed."
        ),
        examples=(
            Example(words="compare alexnet", says="each on its paper's board"),
            Example(
                words="compare lenet5 --board vc709 --word 16 -o compare.html",
                says="all on one board, as a page",
            ),
        ),
    ),
    "explore": Verb(
        group="understand",
        room="explore",
        line="designs for a network on a board that no other beats",
        description=(
            "Finds the designs of a network that fit a board and that no other beats in cycles, "
            "bytes or resources, exactly: the Pareto front over units, lanes, ports and kinds. "
            "Writes its knee and ends as network files, which every other verb takes."
        ),
        examples=(
            Example(words="explore digits --board kc705 --scope conv1", says="cycles against LUTs"),
            Example(
                words="explore alexnet --board kc705 --objectives cycles,dsp -o build/found",
                says="cycles against DSP blocks; network files, JSON and CSV",
                quick=False,
            ),
        ),
    ),
    "cluster": Verb(
        group="understand",
        room="comparison.cluster",
        line="FPDeep on a chain of boards, simulated row by row",
        description=(
            "Cuts a network along a chain of boards by FPDeep's rules, and simulates a training "
            "batch on it row by row: the interval from image to image, fill and drain, what every "
            "slice and link waits for. A deadlock is named, with status 1."
        ),
        examples=(
            Example(words="cluster alexnet --devices 15 --images 8", says="on 15 VC709 boards"),
            Example(
                words="cluster lenet5 --devices 4 --link-gbs 10 -o build/cluster",
                says="on slow links; JSON, CSV and time line",
            ),
        ),
    ),
    "sweep": Verb(
        group="understand",
        room="comparison.sweep",
        line="many variants of a network, and which no other beats",
        description=(
            "Computes a network at every combination of values, on all cores or on a Dask cluster: "
            "of designs, and shows those that no other beats (the Pareto front); or, with "
            "--architecture, of boards, links and batches. A point is what the other verbs say of "
            "these values; in the folder of -o it is never computed twice."
        ),
        examples=(
            Example(words="sweep digits --over n_cu=4:32:4", says="time and bytes over CUs"),
            Example(
                words="sweep alexnet --architecture fpdeep --vary boards=4..16:4",
                says="what more boards would give",
            ),
        ),
    ),
    "report": Verb(
        group="understand",
        room="report",
        line="one page on a network's memory traffic",
        description=(
            "Writes one self-contained HTML page: strategies, traffic on three counts, cycles, "
            "throughput, rooflines, lower bounds and reconfiguration; with JSON and CSV beside it."
        ),
        examples=(
            Example(words="report alexnet", says="report.html, report.json, report-tables"),
            Example(
                words="report digits --part xc7v2000t -o digits.html",
                says="another network, on a larger part",
            ),
        ),
    ),
    "workload": Verb(
        group="understand",
        room="traffic",
        line="layers for SCALE-Sim, Timeloop or ZigZag",
        description="Writes a network's layers, in all three phases, for another modelling tool.",
        examples=(
            Example(words="workload alexnet --format zigzag -o workload", says="for ZigZag"),
            Example(
                words="workload vgg16 --format scalesim --batch 16 -o workload",
                says="for SCALE-Sim, of another batch",
            ),
        ),
    ),
    "simulate": Verb(
        group="simulate",
        room="simulate",
        line="run layers on the hardware and audit them",
        description=(
            "Runs layers on the hardware, compares every bit with the golden model, and audits "
            "every word on every port. With --board in the passes of its plan, whose bytes are "
            "then measured. Status 1 if anything is wrong."
        ),
        examples=(
            Example(
                words="simulate digits --layer conv1",
                says="a small layer, in MyHDL with a behavioural CU array",
            ),
            Example(
                words="simulate alexnet --layer conv2 --engine verilator -o conv2",
                says="all RTL, with report and pictures",
                quick=False,
            ),
        ),
    ),
    "verify-float": Verb(
        group="simulate",
        room="simulate.verify_float",
        line="check float units and fused sums against files of vectors",
        description=(
            "Checks a float unit against a file of Berkeley TestFloat's, or fused sums against a "
            "file of sums; or writes such a file of sums. Status 1 if a row differs."
        ),
        examples=(
            Example(words="verify-float --op fused --taps 9 -o sums.txt", says="write sums"),
            Example(words="verify-float --op fused --vectors sums.txt", says="check them"),
        ),
    ),
    "export": Verb(
        group="build",
        room="export",
        line="write designs as packages for FPGA flows",
        description=(
            "Writes a package per design and phase, of a MAC array or a pipeline one for all: VHDL "
            "or Verilog behind AXI, a bench that checks itself, vectors, a test by cocotb, Vivado "
            "scripts, headers and a page about them."
        ),
        examples=(
            Example(words="export digits --layer conv1 -o export", says="one design", quick=False),
            Example(
                words="export alexnet --all -o export",
                says="every design in every phase, and their schedule",
                quick=False,
            ),
        ),
    ),
    "registers": Verb(
        group="build",
        room="bitstream",
        line="a design's AXI4-Lite registers, and a layer's settings",
        description=(
            "Prints the register map of a layer's design behind its AXI shell, with the layer's "
            "settings; or writes it as a page, a C header and a Python module."
        ),
        examples=(
            Example(words="registers alexnet --layer conv2", says="of forward propagation"),
            Example(
                words="registers alexnet --layer conv2 --phase ku -o registers",
                says="of the kernel update, as files",
            ),
        ),
    ),
    "resources": Verb(
        group="build",
        room="bitstream.resources",
        line="LUTs, flip-flops, block RAM and DSPs of a design, by Yosys",
        description=(
            "Synthesises the engine of a layer by Yosys, block by block, and counts what it takes "
            "of an FPGA; or, with --route, places and routes its blocks by nextpnr. Needs the "
            "extra: pip install 'merp[fpga]'."
        ),
        examples=(
            Example(
                words="resources alexnet --layer conv2", says="forward propagation", quick=False
            ),
            Example(
                words="resources alexnet --layer conv2 --route ecp5 --block fp_add",
                says="the longest path of one block, placed and routed thrice",
                quick=False,
            ),
        ),
    ),
    "calibrate": Verb(
        group="build",
        room="bitstream.resources",
        line="compare a Vivado utilisation report with our estimate",
        description=(
            "Puts the estimate of merp resources beside what Vivado's report_utilization wrote of "
            "the same engine."
        ),
        examples=(
            Example(
                words="calibrate utilization.rpt alexnet --layer conv2",
                says="forward propagation",
                quick=False,
            ),
            Example(
                words="calibrate utilization.rpt alexnet --layer conv2 --phase ku --json",
                says="the kernel update, for programs",
                quick=False,
            ),
        ),
    ),
    "formats": Verb(
        group="train",
        room="train",
        line="fraction bits for a network in fixed point",
        description=(
            "Trains a network of the fixed-point MAC array in float64 for some steps, and proposes "
            "the fraction bits of each tensor: twice the largest magnitude that was met fits."
        ),
        examples=(
            Example(
                words="formats digits-fixed --data digits",
                says="tables of a network file; needs pip install 'merp[train]'",
            ),
            Example(
                words="formats digits-fixed --data digits --loss hinge --lr 0.005 --steps 440",
                says="ten epochs, with the accuracy in float64",
                quick=False,
            ),
        ),
    ),
    "train": Verb(
        group="train",
        room="train",
        line="train a network in the hardware's arithmetic",
        description=(
            "Trains a network in the hardware's own arithmetic, by the golden model or in the "
            "hardware itself, and says what a step moves."
        ),
        examples=(
            Example(
                words="train digits --data digits --steps 20 --save digits.npz",
                says="the golden model; needs pip install 'merp[train]'",
            ),
            Example(
                words="train digits --data digits --engine verilator --batch 4 --steps 2",
                says="two steps in the hardware, every word compared",
                quick=False,
            ),
        ),
    ),
    "losses": Verb(
        group="train",
        room="train",
        line="plot the losses of training runs",
        description="Draws the losses of training runs as one picture, and lists their results.",
        examples=(
            Example(words="losses run", says="one run, as losses.svg"),
            Example(words="losses run other -o losses.png", says="two runs"),
        ),
    ),
    "import": Verb(
        group="models",
        room="networks",
        line="a network file and parameters of an ONNX model",
        description=(
            "Writes an ONNX model as a network file, with its kernels and biases beside it, in our "
            "order and with normalisations folded in; a node that is not supported is named. Every "
            "other verb takes the model itself as NETWORK, too. Needs the extra: "
            "pip install 'merp[onnx]'."
        ),
        examples=(
            Example(
                words="import model.onnx -o model.toml --weights model.npz",
                says="a network file, and parameters to train from",
                quick=False,
            ),
            Example(
                words="import model.onnx -o model.toml --board kc705",
                says="with the designs that a plan on this board chooses",
                quick=False,
            ),
        ),
    ),
    "export-weights": Verb(
        group="models",
        room="networks",
        line="parameters back into an ONNX model",
        description=(
            "Writes kernels and biases, as merp train saved them, back into the ONNX model that "
            "their network was imported from, in the model's order. What was folded into a layer "
            "stays folded: its nodes are gone. Needs the extra: pip install 'merp[onnx]'."
        ),
        examples=(
            Example(
                words="export-weights trained.npz model.onnx -o new.onnx",
                says="what merp train --save trained.npz left",
                quick=False,
            ),
            Example(
                words="export-weights mine.npz model.onnx -o new.onnx --json",
                says="kernels and biases of one's own, for programs",
                quick=False,
            ),
        ),
    ),
    "help": Verb(
        group="help",
        room="common.command_line",
        line="what a term or a verb means",
        description="Explains a term of the glossary, or a verb; without one, lists the terms.",
        examples=(
            Example(words="help count", says="a term"),
            Example(words="help", says="all terms"),
        ),
    ),
    "schema": Verb(
        group="help",
        room="networks",
        line="the keys of a network file, for an editor",
        description=(
            "Prints the JSON Schema of a network file. An editor that knows it completes keys, "
            "explains them and marks what is wrong; merp schema > network.schema.json, and in the "
            "network file's first line: #:schema ./network.schema.json"
        ),
        examples=(
            Example(words="schema", says="of a network file"),
            Example(words="schema network", says="the same, by its name"),
        ),
    ),
    "completion": Verb(
        group="help",
        room="common.command_line",
        line="a script that completes merp's words in a shell",
        description=(
            "Prints a script that completes verbs, options and networks. bash: eval it in "
            "~/.bashrc; zsh: save it as _merp in a folder of fpath; fish: save it as "
            "~/.config/fish/completions/merp.fish."
        ),
        examples=(
            Example(words="completion bash", says="for bash"),
            Example(words="completion zsh", says="for zsh"),
        ),
    ),
}
"""In the order of the help page."""
