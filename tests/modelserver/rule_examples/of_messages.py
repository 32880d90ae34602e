"""Examples for the rules about messages, their blocks and their texts."""

from tests.modelserver.rule_examples.example import Pair, ask, assistant, result, used, user, with_tools, words

_SYSTEM = {"role": "system", "content": "From now on, answer in French."}
_SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "news"}}
_REFERENCE = {"type": "tool_reference", "tool_name": "Read"}

PAIRS: dict[str, Pair] = {
    "messages-not-empty": (ask(user()), ask(messages=[])),
    "message-shape": (ask(user([words("Hello")])), ask({"role": "user", "content": "Hello", "id": "m1"})),
    "roles-known": (ask(user(), assistant(), user()), ask({"role": "tool", "content": "Hello"})),
    "first-message-user": (ask(user()), ask(assistant(), user())),
    "system-message-place": (ask(user(), _SYSTEM), ask(user(), _SYSTEM, model="claude-sonnet-5")),
    "block-types-known": (ask(user([words("Hello")])), ask(user([{"type": "speech", "text": "Hello"}]))),
    "result-content": (
        with_tools(user(), assistant([used()]), user([result(content=[_REFERENCE])])),
        with_tools(user(), assistant([used()]), user([result(content=[used()])])),
    ),
    "block-fields": (ask(user([words("Hello", cache_control=None)])), ask(user([words("Hello", uuid="u")]))),
    "blocks-fit-role": (with_tools(user(), assistant([used()]), user([result()])), with_tools(user([used()]))),
    "content-not-empty": (ask(user(), assistant("Hello"), user()), ask(user(), assistant([]), user())),
    "text-not-empty": (ask(user([words("Hello")])), ask(user([words("Hello"), words("")]))),
    "text-not-blank": (ask(user([words(" Hello ")])), ask(user([words("Hello"), words(" \n")]))),
    "prefill-refused": (ask(user(), assistant([_SEARCH])), ask(user(), assistant("The answer is"))),
    "prefill-trimmed": (
        ask(user(), assistant("The answer is"), model="claude-haiku-4-5"),
        ask(user(), assistant("The answer is "), model="claude-haiku-4-5"),
    ),
}
