"""Scores decisions as the corpora are meant to be scored."""

import json
from collections import Counter
from pathlib import Path

READ_FORMS = Path(__file__).parent / "read_forms.json"


def load_read_forms():
    """Cases that say `ask` about a form that can only read, by their ids, and why it needs no question where readers are held."""
    return {form["id"]: form["reason"] for form in json.loads(READ_FORMS.read_text(encoding="utf-8"))}


def accept_read_forms(cases):
    """The same cases; those of the list may be allowed, too."""
    forms = load_read_forms()
    return [
        {**case, "also_ok": [*case.get("also_ok", []), "allow"]} if case.get("id") in forms else case for case in cases
    ]


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
