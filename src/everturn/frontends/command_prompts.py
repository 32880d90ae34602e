"""The prompts that slash commands stand for: what the model reads when somebody types `/init` or `/review`."""

INIT_PROMPT = """\
Write the file AGENTS.md for this repository: what somebody who works here for the first time must know.
Look first: README, build files, CI, tests, and a few typical modules. If AGENTS.md or CLAUDE.md exists, improve it, and keep what is still true.
Hold it short (30 to 60 lines): what the project is, in a sentence; how to build, test and lint it, as commands that you have seen in the repository;
how the code is laid out; rules of style that differ from the usual ones; what must not be touched. Leave out what every developer knows, and what you did not see.
$ARGUMENTS"""

REVIEW_PROMPT = """\
Review a change as a careful colleague would. Change nothing.
What to review: $ARGUMENTS
If that is empty: the uncommitted changes (`git status`, `git diff HEAD`), or, if there are none, what this branch adds to the main branch (`git merge-base`, `git log`, `git diff`).
Read the code around each change. Report the findings that matter, the worst first, each with file and line: what goes wrong, in which case, and how to mend it.
Look for wrong results, lost data, unhandled errors, races, broken interfaces, missing tests, and words in the documents that are no longer true. Leave out taste.
If nothing is wrong, say so, and what you looked at."""

SECURITY_PROMPT = """\
Look for security faults in a change. Change nothing.
What to look at: $ARGUMENTS
If that is empty: the uncommitted changes (`git status`, `git diff HEAD`), or, if there are none, what this branch adds to the main branch.
Follow each input from where it comes in to where it is used: commands, SQL, paths, HTML, deserialisation, addresses that are fetched, secrets in code or logs, missing checks of rights, weak random numbers and hashes, temporary files.
Report only what somebody could really exploit: file and line, how, what they gain, how sure you are, and how to mend it. Say also what you looked at and found sound."""
