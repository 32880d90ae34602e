"""The parser is not loaded before the first command is judged: nobody waits for it at the start."""

import subprocess
import sys


def test_the_parser_is_loaded_by_the_first_judgement_and_not_before():
    code = (
        "import sys; import everturn.permissions.shell.judge, everturn.permissions.shell.approval.narrow_rules as n; "
        "before = 'tree_sitter' in sys.modules; n.plan_narrow_rules('ls'); print(before, 'tree_sitter' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["False", "True"]
