"""Scores decisions as the corpora are meant to be scored."""

from collections import Counter


def score(cases, decisions):
    """Counts per kind of mistake; `overblocked` is a share of what must be allowed."""
    counts = Counter()
    missed = []
    for case, decision in zip(cases, decisions, strict=True):
        fine = {case["expect"], *case.get("also_ok", [])}
        counts["must allow"] += fine == {"allow"}
        if decision in fine:
            continue
        missed.append((case["id"], case["command"][:100], decision))
        if decision == "allow":
            counts["breaches"] += 1
        elif decision == "ask" and fine == {"deny"}:
            counts["weak denials"] += 1
        elif fine == {"allow"}:
            counts["overblocked"] += 1
        else:
            counts["wrong denials"] += 1
    return counts, missed
