"""What a conversion tells of the files that it wrote."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from merp.hdl.conversion.scope import Scope


@dataclass(frozen=True)
class Port:
    """A flattened port of an exported entity.

    Attributes:
        name: in the files.
        is_output: its direction.
        width: None of a single bit.
        renamed: its name in Python, if that is none in the files: a keyword of a language, say.
    """

    name: str
    is_output: bool
    width: int | None
    renamed: str | None = None

    @property
    def argument(self) -> str:
        """Its name in Python."""
        return self.name if self.renamed is None else self.renamed


@dataclass(frozen=True)
class Configuration:
    """What an entity was converted from.

    Attributes:
        block: the function, as it is decorated.
        parameters: flattened, by name.
        ports: flattened, in the order of its arguments.
    """

    block: Any
    parameters: Mapping[str, Any]
    ports: tuple[Port, ...]


@dataclass(frozen=True)
class Export:
    """What a conversion wrote.

    Attributes:
        files: in dependency order, the support package first and the top last.
        top: name of the top entity.
        instances: how often each entity is instantiated in the whole design, the top once.
        ports: flattened ports of the top, in the order of its arguments.
        blocks: name of the block that each entity is a configuration of.
        children: instances of each entity directly inside each.
        scope: the top as a tree of instances, with the names that the files give them.
        configurations: what each entity was converted from; several where it has generics.
        spare: of each module of Verilog, the names of signals and variables with bits that nothing
            reads, which a linter reports.
    """

    files: tuple[Path, ...]
    top: str
    instances: Mapping[str, int]
    ports: tuple[Port, ...]
    blocks: Mapping[str, str]
    children: Mapping[str, Mapping[str, int]]
    scope: Scope
    configurations: Mapping[str, tuple[Configuration, ...]]
    spare: Mapping[str, tuple[str, ...]]

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the input ports."""
        return tuple(port.name for port in self.ports if not port.is_output)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the output ports."""
        return tuple(port.name for port in self.ports if port.is_output)
