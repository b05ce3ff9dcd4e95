"""Let two processes of one verb write to one folder at the same time."""

from random import Random

from child import Ended, complaints
from content import differences, tree
from counts import Counts
from place import Place

REFUSED = "another merp is writing there"


def try_pairs(place: Place, numbers: range, seed: int) -> Counts:
    """Start two processes for each number: half of them together, half with a random delay."""
    counts = Counts()
    for number in numbers:
        draw = Random(f"{seed} {place.verb.name} pair {number}")
        start = place.start(draw)
        # A process that continues from a file reads it unchanged, so both do the same.
        again = "--resume" in place.verb.new
        words = [place.verb.new, place.verb.new if again else place.verb.old]
        wanted = [place.expected(start, each) for each in words]
        place.restore(start)
        first = place.tried(words[0])
        if draw.random() < 0.5:
            first.wait_for(place.ended.seconds * draw.random())
        second = place.tried(words[1])
        ended = [first.wait(), second.wait()]
        faults = [fault for each in ended for fault in _complaints(each)]
        done = [state for each, state in zip(ended, wanted, strict=True) if each.status == 0]
        if not done:
            faults.append("both were refused")
        found = tree(place.out)
        if found not in done:
            faults += differences(found, (done or wanted)[0])
        counts.add(number, "both" if len(done) == 2 else "one refused", faults)
    return counts


def _complaints(ended: Ended) -> list[str]:
    refused = ended.status == 2 and ended.said.count("\n") == 1 and REFUSED in ended.said
    return [] if refused else complaints(ended, "one of two")
