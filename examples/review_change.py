"""Reviews the staged change, or what `git diff` says with the given words, and fails where something must be mended first.

python examples/review_change.py              # before a commit; examples/pre-commit-config.yaml runs it
python examples/review_change.py main...HEAD  # a branch, in CI
"""

import os
import subprocess
import sys

from everturn import run_sync

SCHEMA = {
    "type": "object",
    "properties": {
        "findings": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "file": {"type": "string"},
                    "line": {"type": "integer"},
                    "text": {"type": "string"},
                    "must_be_mended": {"type": "boolean"},
                },
                "required": ["file", "line", "text", "must_be_mended"],
            },
        }
    },
    "required": ["findings"],
}
PROMPT = """Review this change. Report only what you have made sure of by reading the code around it: bugs, lost data, holes, tests that prove nothing.
No matters of taste. A finding must be mended if the change should not be merged with it.

{change}"""


def main(words: list[str]) -> int:
    if not os.environ.get("ANTHROPIC_API_KEY"):
        print("not reviewed: ANTHROPIC_API_KEY is not set")
        return 0
    change = subprocess.run(
        ["git", "diff", *(words or ["--cached"])], capture_output=True, text=True, check=True
    ).stdout
    if not change:
        return 0
    # The mode `default` where nobody is asked: the model reads, and changes nothing.
    result = run_sync(PROMPT.format(change=change), output_schema=SCHEMA, max_turns=15, max_budget_usd=0.50)
    if not result.ok:
        print("not reviewed:", *result.errors)
        return 1
    findings = result.structured["findings"]
    for finding in findings:
        print("{file}:{line}: {text}".format_map(finding))
    print(f"{len(findings)} findings, ${result.usd:.4f}")
    return int(any(finding["must_be_mended"] for finding in findings))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
