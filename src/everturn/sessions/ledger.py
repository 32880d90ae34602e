"""The account of a session: every model call is charged here, and it says when a limit is reached."""

from collections.abc import Callable, Mapping

import msgspec

from everturn.core.budget import Usage
from everturn.core.events import ModelUsage
from everturn.core.limits import Limits
from everturn.core.money import PICO, to_pico
from everturn.core.outcomes import Problem
from everturn.core.state import Reason
from everturn.ports.ledger import Allowance, Charge, Spent
from everturn.sessions.account import UNLIMITED, Account, is_over, reached


class Repetition:
    """Counts each call (tool, input and result) since the last one that brought something new.

    So a model that alternates between two calls is seen as well as one that repeats a single call, while a call that is
    repeated after other work starts from one again.
    """

    def __init__(self) -> None:
        self._known: set[int] = set()
        self._counts: dict[int, int] = {}
        self.most = 0
        """Count of the call that was repeated most."""
        self.name = ""
        """Name of its tool."""

    def note(self, name: str, input_: bytes, result: bytes) -> None:
        # Hashes, not the calls: results can be large, and a query can make thousands.
        call = hash((name, input_, result))
        if call not in self._known:
            self._known.add(call)
            self._counts.clear()
            self.most = 0
        count = self._counts[call] = self._counts.get(call, 0) + 1
        if count > self.most:
            self.most, self.name = count, name


MAIN = "main"


class SessionLedger:
    """Give it what a replay says and it goes on from there.

    It owns a part of the tree: the session, under it the query under way, under that a node per purpose and the ledgers
    of those who work for the query. Limits of a query count from its beginning; 0 = no limit, except for structured
    retries. `Account` says how each is counted, and besides:

    - Tool calls: the limit is the number of calls that the model may make, denied ones included. The first beyond does
      not run: the model can still answer after the last.
    - Repeated calls: reached by the n-th call with the same tool, the same input and the same result, when nothing new
      came between them.
    - Structured retries: reached by the failure that would need one retry more.
    """

    def __init__(
        self,
        *,
        usd: float = 0.0,
        usage: Usage | None = None,
        models: Mapping[str, ModelUsage] | None = None,
        root: Account | None = None,
        above: "SessionLedger | None" = None,
    ) -> None:
        """`root` and `above` are set by `child`."""
        self._root = root or Account("the session")
        self._root.charge(usage or Usage(), to_pico(usd))
        self._models = {model: _Tally(spent) for model, spent in (models or {}).items()}
        self._usage = usage or Usage()
        self._above = above
        self._below: set[SessionLedger] = set()
        self._closed = False
        self._received: dict[str, tuple[Account, int, int]] = {}
        """For each call under way: the account of its query, and pico-dollars and tokens that it has cost at least."""
        self._pico_received = 0
        """Pico-dollars of calls under way, here and below."""
        self._turn = 0
        self._tell: Callable[[], None] = _ignore
        self._pass_on: Callable[[Charge], None] = _ignore
        self._open_query(Limits())

    def begin_query(self, limits: Limits, started_s: float, spent: Spent | None = None) -> None:
        """Begins the account of a query. `started_s` is of the clock that `tripped` is asked with."""
        if self._above is None:
            self._root.usd.limit = self._root.usd.wanted = to_pico(limits.max_session_usd) or None
        if self._root.started_s is None:
            self._root.started_s = started_s
        self._open_query(limits)
        self._query.started_s = started_s
        if spent is not None:
            self._query.take_up(spent)

    def watch(self, *, reached: Callable[[], None], charged: Callable[[Charge], None]) -> None:
        self._tell, self._pass_on = reached, charged

    def child(self, name: str, allowance: Allowance = UNLIMITED) -> "SessionLedger":
        made = SessionLedger(root=Account(name, self._query, allowance, reserve=True), above=self)
        self._below.add(made)
        return made

    def close(self) -> None:
        self._closed = True
        self._root.close()
        self.leave()

    def charge(
        self, purpose: str, model: str, usage: Usage, usd: float, *, api_id: str = "", request_id: str = ""
    ) -> None:
        pico = to_pico(usd)
        account = self._purposes.get(purpose)
        if account is None:
            account = self._purposes[purpose] = Account(purpose, self._query)
        account.charge(usage, pico)
        self._count(model, usage, pico)
        if self._above is not None:
            self._above.count_below(
                Charge(
                    purpose=self._root.label,
                    model=model,
                    usage=usage,
                    usd=usd,
                    turn=0,
                    api_id=api_id,
                    request_id=request_id,
                )
            )
        elif self._below:
            self.tell_all()

    def note_received(self, request_id: str, usage: Usage, usd: float) -> None:
        self._receive(request_id, to_pico(usd), usage.total)
        self._tell()

    def settle_received(self, request_id: str) -> None:
        if request_id in self._received:
            self._receive(request_id, 0, 0)
            del self._received[request_id]

    def _receive(self, request_id: str, pico: int, tokens: int) -> None:
        account, pico_before, tokens_before = self._received.get(request_id, (self._query, 0, 0))
        self._received[request_id] = (account, pico, tokens)
        account.usd.spend(pico - pico_before)
        account.tokens.spend(tokens - tokens_before)
        self.count_received(pico - pico_before)

    def count_received(self, pico: int) -> None:
        """Adds to the cost of calls under way; it is not part of the totals yet."""
        self._pico_received += pico
        if self._above is not None:
            self._above.count_received(pico)

    def count_below(self, charge: Charge) -> None:
        """Passes on that a child was charged; the money is in the tree already."""
        self._count(charge.model, charge.usage, to_pico(charge.usd))
        self._pass_on(msgspec.structs.replace(charge, turn=self._turn))
        if self._above is not None:
            self._above.count_below(msgspec.structs.replace(charge, purpose=self._root.label))
        else:
            self.tell_all()

    def tell_all(self) -> None:
        """Tells all ledgers below to check their limits again."""
        self._tell()
        for child in tuple(self._below):
            child.tell_all()

    def leave(self, child: "SessionLedger | None" = None) -> None:
        """Removes a child; a closed ledger stays in the tree while somebody works below it."""
        self._below.discard(child or self)
        if self._closed and not self._below and self._above is not None:
            self._above.leave(self)

    def note_turn(self, turn: int) -> None:
        if turn > self._turn:
            self._query.turns.spend(turn - self._turn)
            self._turn = turn

    def claim_call(self) -> bool:
        self._query.calls.spend(1)
        return not any(is_over(account.calls) for account, _ in self._limited)

    def release_calls(self, count: int) -> None:
        self._query.calls.spend(-count)

    def note_call(self, name: str, input_: bytes, result: bytes) -> None:
        self._repetition.note(name, input_, result)

    def note_structured_failure(self) -> None:
        self._structured_failures += 1

    def tripped(self, elapsed_s: float) -> tuple[Reason, Problem] | None:
        in_mid_stream = bool(self._pico_received)
        for account, label in self._limited:
            if (limit := account.reached(elapsed_s, label, in_mid_stream=in_mid_stream)) is not None:
                return limit
        limits, repetition = self._limits, self._repetition
        if 0 < limits.max_repeated_calls <= repetition.most:
            return reached(
                Reason.REPEATED_CALLS,
                f"Reached the limit of {limits.max_repeated_calls:,} identical calls: "
                f"{repetition.name} was called again with the same input and gave the same result.",
            )
        if self._structured_failures > limits.structured_retries:
            return reached(
                Reason.STRUCTURED_OUTPUT_RETRIES,
                f"Reached the limit of {limits.structured_retries:,} retries for an answer that fits the output schema.",
            )
        return None

    def time_left(self, elapsed_s: float) -> float | None:
        return min(
            (left for account, _ in self._limited if (left := account.time_left(elapsed_s)) is not None), default=None
        )

    @property
    def session_usd(self) -> float:
        return (self._root.usd.spent - self._pico_received) / PICO

    @property
    def session_usage(self) -> Usage:
        return self._usage

    @property
    def query_usage(self) -> Usage:
        main = self._purposes.get(MAIN)
        return main.usage if main is not None else Usage()

    @property
    def query_output(self) -> int:
        return self.query_usage.output

    @property
    def models(self) -> dict[str, ModelUsage]:
        return {model: tally.value for model, tally in self._models.items()}

    def _open_query(self, limits: Limits) -> None:
        self._limits = limits
        allowance = Allowance(
            usd=limits.max_usd,
            tokens=limits.max_tokens_total,
            tool_calls=limits.max_tool_calls,
            wall_s=limits.max_wall_s,
        )
        self._query = Account("the query", self._root, allowance)
        self._limited = [(account, self._say(account)) for account in self._query.lineage if account.is_limited]
        self._purposes: dict[str, Account] = {}
        self._turn = 0
        self._repetition = Repetition()
        self._structured_failures = 0

    def _say(self, account: Account) -> str:
        own = account is self._query or account is self._root
        return account.label if own else f"{account.label} that started {self._root.label}"

    def _count(self, model: str, usage: Usage, pico: int) -> None:
        self._usage += usage
        tally = self._models.get(model)
        if tally is None:
            tally = self._models[model] = _Tally(ModelUsage())
        tally.add(usage, pico)


class _Tally:
    """Calls, tokens and pico-dollars of one model."""

    __slots__ = ("_calls", "_pico", "_usage")

    def __init__(self, spent: ModelUsage) -> None:
        self._usage, self._pico, self._calls = spent.usage, to_pico(spent.usd), spent.calls

    def add(self, usage: Usage, pico: int) -> None:
        self._usage += usage
        self._pico += pico
        self._calls += 1

    @property
    def value(self) -> ModelUsage:
        return ModelUsage(usage=self._usage, usd=self._pico / PICO, calls=self._calls)


def _ignore(*_: object) -> None:
    """Nobody watches."""
