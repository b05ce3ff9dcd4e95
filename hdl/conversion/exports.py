"""Describe the files that a conversion wrote."""

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
        width: None for a single bit.
        renamed: its name in Python, if it has another name in the files, for example because it is
            a keyword of a language.
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
    """A configuration from which an entity was converted.

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
    """The result of a conversion.

    Attributes:
        files: in dependency order, the support package first and the top last.
        top: name of the top entity.
        instances: number of instances of each entity in the whole design, one for the top.
        ports: flattened ports of the top, in the order of its arguments.
        blocks: name of the block of each entity.
        children: instances of each entity directly inside each.
        scope: the top as a tree of instances, with their names in the files.
        configurations: the configurations of each entity; several if it has generics.
        spare: for each Verilog module, the names of signals and variables with bits that nothing
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
