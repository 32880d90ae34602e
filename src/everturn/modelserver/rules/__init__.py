"""The rules by which the server refuses what the API refuses; pure, and usable without a server."""

from collections.abc import Mapping
from typing import Any

from everturn.modelserver.ask import Ask
from everturn.modelserver.models import KNOWN_MODELS, Models
from everturn.modelserver.rules.cache_marks import CACHING
from everturn.modelserver.rules.envelope import ADDRESS, CONTENT, HEADERS
from everturn.modelserver.rules.limits import LIMITS
from everturn.modelserver.rules.media import MEDIA
from everturn.modelserver.rules.messages import MESSAGES
from everturn.modelserver.rules.rule import ApiRule, Envelope, Violation, first_violation
from everturn.modelserver.rules.sampling import SAMPLING
from everturn.modelserver.rules.schemas import SCHEMAS
from everturn.modelserver.rules.shape import SHAPE
from everturn.modelserver.rules.texts import PREFILL, TEXTS
from everturn.modelserver.rules.thinking import THINKING
from everturn.modelserver.rules.threads import THREADS
from everturn.modelserver.rules.tools import TOOLS
from everturn.modelserver.signatures import IssuedThinking

ENVELOPE_RULES: tuple[ApiRule[Envelope], ...] = (*ADDRESS.all, *HEADERS.all, *CONTENT.all)
# The first broken rule is the one that is named: a mark on an empty text before the text, an open call before a prefill.
BODY_RULES: tuple[ApiRule[Ask], ...] = (
    *SHAPE.all,
    *THREADS.all,
    *MESSAGES.all,
    *CACHING.all,
    *TEXTS.all,
    *TOOLS.all,
    *PREFILL.all,
    *THINKING.all,
    *SAMPLING.all,
    *SCHEMAS.all,
    *MEDIA.all,
    *LIMITS.all,
)
RULES: tuple[ApiRule[Any], ...] = (*ENVELOPE_RULES, *BODY_RULES)


def check_request(
    body: Mapping[str, Any],
    headers: Mapping[str, str] | None = None,
    *,
    models: Models = KNOWN_MODELS,
    window: int | None = None,
    handed: IssuedThinking | None = None,
    counting: bool = False,
) -> Violation | None:
    """The first rule that a request breaks; None when the API would take it.

    Without headers, key and version are not asked for, and no beta is on. `handed` is what a server gave out
    (`server.handed`), for signatures that were scripted; `counting` judges a request to count tokens.
    """
    if headers is not None:
        lower = {name.lower(): value for name, value in headers.items()}
        envelope = Envelope(method="POST", path="/v1/messages", headers=lower, size=0, raw=b"")
        refused = first_violation(HEADERS.all, envelope)
        if refused:
            return refused
    return check_ask(Ask(body, headers, models=models, window=window, handed=handed, counting=counting))


def check_ask(ask: Ask) -> Violation | None:
    return first_violation(BODY_RULES, ask)
