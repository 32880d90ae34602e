"""The budget tree: what is spent below is spent above, and what is promised to one is not promised to another."""

from hypothesis import given, settings
from hypothesis import strategies as st

from everturn.core.budget import Usage
from everturn.core.limits import Limits
from everturn.core.money import PICO, to_pico
from everturn.core.outcomes import Problem
from everturn.core.state import Reason
from everturn.ports.ledger import Allowance, Charge
from everturn.sessions.ledger import SessionLedger
from everturn.sessions.purse import Purse

AMOUNT = st.integers(0, 50)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("reserve"), st.integers(0, 9), st.integers(1, 120)),
        st.tuples(st.just("open"), st.integers(0, 9), st.one_of(st.none(), st.integers(1, 120))),
        st.tuples(st.just("spend"), st.integers(0, 9), AMOUNT),
        st.tuples(st.just("close"), st.integers(0, 9), st.just(0)),
    ),
    max_size=40,
)


class Grove:
    """A tree of purses, and beside it what each was charged itself."""

    def __init__(self, limit):
        self.purses = [Purse(limit=limit)]
        self.own = [0]

    def at(self, index):
        return index % len(self.purses)

    def play(self, step):
        """The purse that was made, if any."""
        what, index, amount = step
        purse = self.purses[self.at(index)]
        match what:
            case "reserve":
                self.purses.append(purse.reserve(amount))
            case "open":
                self.purses.append(Purse(purse, limit=amount))
            case "spend":
                purse.spend(amount)
                self.own[self.at(index)] += amount
            case "close":
                purse.close()
        self.own += [0] * (len(self.purses) - len(self.own))

    def below(self, purse):
        return [other for other in self.purses if other.parent is purse]

    def state(self):
        return [(purse.spent, purse.held, purse.limit, purse.reserved) for purse in self.purses]


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.none(), st.integers(1, 200)), STEPS)
def test_sums_agree_at_every_node_after_every_step(limit, steps):
    grove = Grove(limit)
    for step in steps:
        grove.play(step)
        for purse, own in zip(grove.purses, grove.own, strict=True):
            assert purse.spent == own + sum(child.spent for child in grove.below(purse))
            assert purse.held == sum(child.outstanding for child in grove.below(purse))
    assert grove.purses[0].spent == sum(grove.own)


CALLS = st.tuples(st.integers(0, 3), st.sampled_from("abc"))
NOTES = st.lists(
    st.one_of(
        st.tuples(st.just("receive"), CALLS, AMOUNT),
        st.tuples(st.just("charge"), CALLS, AMOUNT),
        st.tuples(st.just("query"), CALLS, AMOUNT),
        st.tuples(st.just("close"), CALLS, AMOUNT),
    ),
    max_size=40,
)


@settings(max_examples=200, deadline=None)
@given(NOTES)
def test_what_is_received_in_mid_stream_is_charged_once(notes):
    """In any order of calls, queries and children: limits see charges and calls under way, totals see the charges."""
    top = SessionLedger()
    top.begin_query(Limits(max_session_usd=1_000.0), 0.0)
    one = top.child("agent:one", Allowance(usd=60.0))
    ledgers = [top, one, top.child("agent:two"), one.child("agent:below", Allowance(usd=30.0))]
    charged, under_way = 0, {}
    for what, (index, name), amount in notes:
        ledger, call = ledgers[index], f"{index}{name}"
        match what:
            case "receive":
                under_way[call] = amount
                ledger.note_received(call, Usage(output=amount), float(amount))
            case "charge":
                charged += amount
                under_way.pop(call, None)
                ledger.settle_received(call)
                ledger.charge("main", "m", Usage(output=amount), float(amount), request_id=call)
            case "query":
                ledger.begin_query(Limits(max_session_usd=1_000.0), 0.0)
            case "close" if index:
                ledger.close()
        assert (top.session_usd, top.session_usage.output) == (charged, charged)
        assert (top.tripped(0.0) is not None) == (charged + sum(under_way.values()) >= 1_000)


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 200), STEPS)
def test_no_more_is_promised_than_there_is(limit, steps):
    """As long as everybody keeps to what is free where they spend, spent and promised together fit every limit."""
    grove = Grove(limit)
    for what, index, amount in steps:
        purse = grove.purses[grove.at(index)]
        kept = min(amount, max(purse.room, 0)) if what == "spend" else amount
        grove.play((what, index, kept))
        for held in grove.purses:
            if held.limit is not None and (held.reserved or held.parent is None):
                assert held.spent + held.held <= held.limit


@settings(max_examples=100, deadline=None)
@given(st.integers(1, 200), STEPS)
def test_closing_again_changes_nothing_and_closing_all_gives_everything_back(limit, steps):
    grove = Grove(limit)
    for step in steps:
        grove.play(step)
    for purse in grove.purses:
        purse.close()
        before = grove.state()
        purse.close()
        assert grove.state() == before
    assert grove.purses[0].held == 0
    assert grove.purses[0].room == limit - sum(grove.own)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10**7)), max_size=60))
def test_money_does_not_drift_however_often_it_is_charged(charges):
    """Prices of 0.1, 0.2, 0.3 and 0.7 USD per million: none of them is exact in binary."""
    prices = (100_000, 200_000, 300_000, 700_000)
    ledger = SessionLedger()
    below = ledger.child("agent:one").child("agent:two")
    for which, tokens in charges:
        below.charge("main", "a", Usage(input=tokens), tokens * prices[which] / PICO)
    exact = sum(tokens * prices[which] for which, tokens in charges)
    assert to_pico(ledger.session_usd) == to_pico(below.session_usd) == exact


def begun(**limits) -> SessionLedger:
    ledger = SessionLedger()
    ledger.begin_query(Limits(**limits), 0.0)
    return ledger


def agent(ledger, name="agent:one", **allowance) -> SessionLedger:
    child = ledger.child(name, Allowance(**allowance))
    child.begin_query(Limits(), 0.0)
    return child


def reason(ledger, elapsed_s=0.0):
    tripped = ledger.tripped(elapsed_s)
    return tripped and tripped[0]


def test_two_children_cannot_together_be_promised_more_than_the_parent_has():
    parent = begun(max_usd=1.0)
    first, second = agent(parent, usd=0.75), agent(parent, "agent:two", usd=0.75)
    first.charge("main", "a", Usage(), 0.5)
    second.charge("main", "a", Usage(), 0.25)

    assert (reason(first), reason(parent)) == (None, None)
    assert second.tripped(0.0) == (
        Reason.MAX_BUDGET_USD,
        Problem(
            text="Reached the limit of 0.25 USD, which was all that was left of 0.75: agent:two cost 0.2500 USD.",
            kind="max_budget_usd",
            by_api=False,
        ),
    )


def test_what_a_child_did_not_use_is_there_for_the_next():
    parent = begun(max_usd=1.0)
    first = agent(parent, usd=0.75)
    first.charge("main", "a", Usage(), 0.25)
    first.close()
    second = agent(parent, "agent:two", usd=0.75)
    second.charge("main", "a", Usage(), 0.5)
    assert reason(second) is None


def test_a_child_for_which_nothing_is_left_ends_before_its_first_call():
    parent = begun(max_usd=1.0, max_tokens_total=10)
    agent(parent, usd=1.0, tokens=10)
    assert reason(agent(parent, "agent:two", usd=0.5)) is Reason.MAX_BUDGET_USD
    assert reason(agent(parent, "agent:three", tokens=5)) is Reason.MAX_TOKENS_TOTAL


def test_a_limit_of_the_child_ends_the_child_alone():
    parent = begun(max_usd=1.0)
    child = agent(parent, usd=0.25)
    child.charge("main", "a", Usage(), 0.25)
    assert (reason(child), reason(parent)) == (Reason.MAX_BUDGET_USD, None)


def test_a_limit_of_the_parent_ends_all_below_and_says_whose_it_is():
    parent = begun(max_tokens_total=100)
    child = agent(parent)
    sibling = agent(parent, "agent:two")
    child.charge("main", "a", Usage(input=101), 0.0)
    assert [reason(ledger) for ledger in (parent, child, sibling)] == [Reason.MAX_TOKENS_TOTAL] * 3
    assert sibling.tripped(0.0)[1].text == (
        "Reached the limit of 100 tokens: the query that started agent:two used 101."
    )


def test_everybody_is_told_when_somebody_else_may_have_reached_a_limit():
    told = []
    parent = begun(max_usd=1.0)
    parent.watch(reached=lambda: told.append("parent"), charged=lambda _: None)
    children = {name: agent(parent, name) for name in ("agent:one", "agent:two")}
    for name, child in children.items():
        child.watch(reached=lambda name=name: told.append(name), charged=lambda _: None)

    children["agent:one"].charge("main", "a", Usage(), 1.0)

    assert sorted(told) == ["agent:one", "agent:two", "parent"]


def test_a_closed_ledger_is_told_as_long_as_somebody_works_below_it():
    told = []
    parent = begun()
    middle = agent(parent)
    lowest = agent(middle, "agent:two")
    lowest.watch(reached=lambda: told.append("lowest"), charged=lambda _: None)
    middle.close()
    parent.charge("main", "a", Usage(), 0.0)
    lowest.close()
    parent.charge("main", "a", Usage(), 0.0)
    assert told == ["lowest"]


def test_each_ledger_above_hears_of_a_charge_once_by_the_name_it_gave():
    heard = []
    parent = begun()
    parent.note_turn(3)
    middle = agent(parent)
    lowest = agent(middle, "agent:two")
    for name, ledger in (("parent", parent), ("middle", middle), ("lowest", lowest)):
        ledger.watch(reached=lambda: None, charged=lambda charge, name=name: heard.append((name, charge)))

    lowest.charge("summary", "a", Usage(input=5), 0.5)

    charge = Charge(purpose="agent:two", model="a", usage=Usage(input=5), usd=0.5, turn=0)
    assert heard == [
        ("middle", charge),
        ("parent", Charge(purpose="agent:one", model="a", usage=Usage(input=5), usd=0.5, turn=3)),
    ]


def test_a_child_may_take_so_many_turns_in_all_its_queries():
    child = agent(begun(), turns=3)
    child.note_turn(1)
    child.note_turn(2)
    child.note_turn(2)
    child.begin_query(Limits(), 0.0)
    child.note_turn(1)
    assert reason(child) is None
    child.note_turn(2)
    assert reason(child) is Reason.MAX_TURNS


def test_calls_of_children_count_towards_the_limit_of_the_parent():
    parent = begun(max_tool_calls=3)
    child = agent(parent, tool_calls=2)
    assert [child.claim_call(), child.claim_call(), child.claim_call()] == [True, True, False]
    assert reason(child) is Reason.MAX_TOOL_CALLS
    assert reason(parent) is None
    assert not parent.claim_call()
    assert reason(parent) is Reason.MAX_TOOL_CALLS


def test_the_time_of_a_child_ends_with_its_own_or_with_that_of_those_above():
    parent = begun(max_wall_s=100.0)
    child = parent.child("agent:one", Allowance(wall_s=30.0))
    child.begin_query(Limits(), 50.0)
    assert child.time_left(60.0) == 20.0
    assert reason(child, 80.0) is Reason.MAX_WALL_TIME
    later = parent.child("agent:two", Allowance(wall_s=30.0))
    later.begin_query(Limits(), 90.0)
    assert later.time_left(95.0) == 5.0
    assert later.tripped(100.0)[1].text == (
        "Reached the limit of 100 seconds: the query that started agent:two took 100.0."
    )


def test_a_child_that_outlives_its_query_still_counts_and_is_bound_by_it():
    parent = begun(max_usd=1.0)
    child = agent(parent)
    parent.begin_query(Limits(max_usd=1.0), 0.0)
    child.charge("main", "a", Usage(), 1.0)
    assert reason(child) is Reason.MAX_BUDGET_USD
    assert reason(parent) is None
    assert parent.session_usd == 1.0


def test_the_limit_of_a_session_counts_what_was_spent_before_it_was_resumed():
    ledger = SessionLedger(usd=4.5)
    ledger.begin_query(Limits(max_session_usd=5.0, max_usd=1.0), 0.0)
    ledger.charge("main", "a", Usage(), 0.25)
    assert ledger.tripped(0.0) is None
    ledger.charge("main", "a", Usage(), 0.25)
    assert ledger.tripped(0.0)[1].text == "Reached the limit of 5 USD: the session cost 5.0000 USD."
    ledger.begin_query(Limits(max_session_usd=5.0, max_usd=1.0), 0.0)
    assert reason(ledger) is Reason.MAX_BUDGET_USD


def test_a_price_that_is_no_amount_counts_as_nothing():
    ledger = begun(max_usd=1.0)
    for usd in (float("inf"), float("nan"), -float("inf")):
        ledger.charge("main", "a", Usage(input=1), usd)
    assert (ledger.session_usd, reason(ledger)) == (0.0, None)


def noted(limit, *calls):
    """After how many of the calls the ledger trips; None if never."""
    ledger = begun(max_repeated_calls=limit)
    for count, call in enumerate(calls, start=1):
        ledger.note_call(*call)
        if reason(ledger) is Reason.REPEATED_CALLS:
            return count
    return None


POLL, SLEEP = ("Bash", b"status", b"pending"), ("Bash", b"sleep 5", b"")


def test_a_model_that_alternates_between_calls_is_seen_going_round_in_circles():
    assert noted(5, *[POLL, SLEEP] * 20) == 10
    assert noted(5, *[POLL, SLEEP, ("Read", b"a", b"b")] * 20) == 15


def test_a_result_that_flips_back_and_forth_brings_nothing_new():
    assert noted(5, *[("Bash", b"x", b"on"), ("Bash", b"x", b"off")] * 20) == 10


def test_anything_new_starts_the_count_again():
    work = [(f"Edit {n}", b"", b"") for n in range(9)]
    calls = [call for step in work for call in (POLL, POLL, POLL, POLL, step)]
    assert noted(5, *calls) is None


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 6), st.lists(st.integers(0, 2), min_size=1, max_size=40))
def test_a_trip_means_that_one_call_was_made_so_often_since_the_last_new_one(limit, drawn):
    calls = [("Read", bytes([n]), b"same") for n in drawn]
    ended = noted(limit, *calls)
    known, since = set(), []
    expected = None
    for count, call in enumerate(calls, start=1):
        since = [*since, call] if call in known else [call]
        known.add(call)
        if max(since.count(other) for other in since) >= limit:
            expected = count
            break
    assert ended == expected
