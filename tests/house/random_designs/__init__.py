"""Random designs as Python source, for ``side_by_side``: legal in MyHDL by construction.

``program(dice, features)`` gives a design as a tree of pieces of source. ``programs`` gives the
same as a strategy of hypothesis. A feature is a name in ``FEATURES``. Without any there are
additions, bitwise logic, comparisons, ``if`` and the two kinds of processes, on unsigned signals.

The generator knows an interval for every expression. What is assigned fits its target: its interval
is within the bounds, or it is masked, taken modulo, clamped or guarded by a condition. So nothing
raises in MyHDL, and ``side_by_side`` says ``simulation`` of none.

``judged`` imports programs and gives the verdicts. ``shrunk`` makes a failing program smaller: it
drops and replaces parts, many candidates in one simulation, as long as the symptom stays. What is
no longer legal raises in MyHDL then, and is not taken.

Each kind of expression, statement and unit of a block has a class in a module of its own. The
classes build on each other, up to ``Designs``, and share the dice.
"""

from random_designs.designs import program, programs
from random_designs.features import FEATURES, alone
from random_designs.judging import judged
from random_designs.reducing import reductions
from random_designs.shrinking import shrunk
from random_designs.source import Program

__all__ = ["FEATURES", "Program", "alone", "judged", "program", "programs", "reductions", "shrunk"]
