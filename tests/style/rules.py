"""The rules of docs/style.md that a program can check, and the flaws of a passage."""

import re
from functools import cache

import pysbd

from passages import Passage

WORDS = 25  # of a sentence

# name: (pattern, a text that it must find)
BANNED: dict[str, tuple[str, str]] = {
    "what": (r"\bwhat(?:ever)?\b(?!.*\?$)", "What slots need has a test of its own."),
    "that which": (r"\b(?:that|those|all|one|ones) which\b", "That which is kept is read again."),
    "so many": (r"\bso (?:many|much)\b", "A memory of so many words."),
    "told": (r"\b(?:told|tells?|telling)\b", "How far it is it tells a progress."),
    "stand": (r"\bst(?:ands?|ood|anding)\b(?!-| for\b)", "The figure stands in the table."),
    "way back": (r"\bway back\b|\bby (?:the )?way of\b", "Deltas on their way back."),
    "is had": (r"\b(?:is|are|be|was|were|to be) had\b", "Where a simulator is to be had."),
    "inversion": (
        r"^(?:Is|Are|Were|Was|Has|Have|Does|Do(?! not\b| nothing\b)|Should|Can) [^?]*[^?]$"
        r"|^\w+s it an? ",
        "Is it full, the source waits.",
    ),
    "at fault": (r"\bat fault\b", "A case is at fault if it hangs."),
    "nothing can be": (r"\bnothing can be \w+ of\b", "Nothing can be seen of it."),
    "footing": (r"\bfootings?\b", "Figures on one footing."),
    "archaic": (
        r"\b(?:thereof|therein|wherein|whereof|thereby|hereby|anew|likewise|reckon\w*|ere|lest"
        r"|the like|such a one|no other one|let alone)\b",
        "It is read anew.",
    ),
}
PATTERNS = {
    name: re.compile(pattern, 0 if name == "inversion" else re.IGNORECASE)
    for name, (pattern, _) in BANNED.items()
}
SUSPECT = re.compile(  # a text without these needs no splitting into sentences, which is slow
    r"what|(?:^|[.:;!?] )(?:Is|Are|Were|Was|Has|Have|Does|Do|Should|Can|\w+s it) |"
    + "|".join(
        pattern for name, (pattern, _) in BANNED.items() if name not in ("what", "inversion")
    ),
    re.IGNORECASE,
)


def flaws(passage: Passage) -> list[str]:
    """Each rule that a sentence of the passage breaks, with the sentence."""
    if words(passage.text) <= WORDS and not SUSPECT.search(passage.text):
        return []
    found = []
    for sentence in sentences(passage.text):
        found += [
            f"{name}: {sentence}" for name, pattern in PATTERNS.items() if pattern.search(sentence)
        ]
        if (count := words(sentence)) > WORDS:
            found.append(f"{count} words: {sentence}")
    return found


def words(sentence: str) -> int:
    """The words of a sentence; a number, a formula in code and a link count as one each."""
    return len(re.findall(r"[\w`][^\s]*", sentence))


def sentences(text: str) -> list[str]:
    """A text by its sentences."""
    return [sentence.strip() for sentence in _segmenter().segment(text)]


@cache
def _segmenter() -> pysbd.Segmenter:
    return pysbd.Segmenter(language="en", clean=False)
