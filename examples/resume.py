"""Talks twice in one session, with the program ended in between: the second part knows what the first one said.

python examples/resume.py "My favourite colour is teal." "Which colour do I like?"
"""

import asyncio
import sys

from everturn import run


async def main(first: str, second: str) -> int:
    before = await run(first)
    print(f"{before.text}\n[session {before.session_id}]")
    after = await run(second, resume=before.session_id)
    print(f"{after.text}\n[{after.usd:.4f} USD in all]")
    return after.exit


if __name__ == "__main__":
    prompts = sys.argv[1:3] if len(sys.argv) > 2 else ["My favourite colour is teal.", "Which colour do I like?"]  # noqa: PLR2004 (two prompts)
    sys.exit(asyncio.run(main(*prompts)))
