"""Entries of a new block in existing files: each function returns the new text of one file."""

import ast


def with_stage(text: str, room: str, stem: str) -> str:
    """Add the page of the block to ``docs/stages.py``, in the stage with most pages of its room.

    If a stage lists the whole room, the text stays as it is.
    """
    (stages,) = (
        node.value
        for node in ast.parse(text).body
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "STAGES"
    )
    names = [stage.elts for stage in stages.values]
    if any(each.value == room for stage in names for each in stage):
        return text
    of_room = [[each for each in stage if _room(each.value) == room] for stage in names]
    last = max(of_room, key=len)[-1]
    lines = text.splitlines(keepends=True)
    line = lines[last.end_lineno - 1]
    lines[last.end_lineno - 1] = (
        f'{line[: last.end_col_offset]}, "{room}/{stem}"{line[last.end_col_offset :]}'
    )
    return "".join(lines)


def _room(page: str) -> str:
    return page.rpartition("/")[0]


def with_arguments(text: str, entry: str) -> str:
    """Add imports and statements to ``docs/alone.py``, whose function is at its end."""
    imports, statements = entry.split("\n\n", 1)
    head = text.index("from merp.")
    return f"{text[:head]}{imports}\n{text[head:]}{statements}"
