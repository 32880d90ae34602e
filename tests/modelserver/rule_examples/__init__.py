"""For each rule a request that is accepted and one that the rule refuses; the tests play them over HTTP."""

from tests.modelserver.rule_examples import (
    of_answers,
    of_envelope,
    of_messages,
    of_sizes,
    of_thinking,
    of_threads,
    of_tools,
)
from tests.modelserver.rule_examples.example import Pair

EXAMPLES: dict[str, Pair] = {
    **of_envelope.PAIRS,
    **of_threads.PAIRS,
    **of_messages.PAIRS,
    **of_tools.PAIRS,
    **of_thinking.PAIRS,
    **of_answers.PAIRS,
    **of_sizes.PAIRS,
}
