"""The goal of one query: its command runs when the model stops by itself, and the outcome is kept for the result."""

import msgspec

from everturn.core.errors import OptionError, ToolFault
from everturn.core.events import GoalFile, VerificationBegan, VerificationEnded
from everturn.core.goals import digest_output, is_stuck
from everturn.core.notes import Goal
from everturn.core.outcomes import Failed, GoalFailed, Problem
from everturn.core.records import GoalVerified, GoalVerifying
from everturn.engine import wording
from everturn.engine.deps import Config, Deps
from everturn.engine.hook_calls import ask_before
from everturn.engine.recorder import Recorder
from everturn.ports.goal import Verification, Verifier
from everturn.ports.hooks import HookRuling
from everturn.ports.policy import Call, Decider, Policy, Ruling
from everturn.ports.store import OpenQuery
from everturn.ports.tool import Access, Traits


def command_call(command: str) -> Call:
    """The command as a call that the policy can judge."""
    traits = Traits(access=Access.EXECUTE)
    return Call(id="", name="Bash", input={"command": command}, traits=traits, line=f"Bash {command}")


def refuse_denied(policy: Policy, command: str) -> None:
    """Raises `OptionError` where a rule denies the command. Otherwise whoever set the goal has allowed it."""
    verdict = policy.judge_apart(command_call(command))
    if verdict.ruling is Ruling.DENY and verdict.by is Decider.RULE:
        raise OptionError("verify", f"the command of the goal may not run: {verdict.reason}")


async def permit_goal(text: str, command: str, deps: Deps, folder: str) -> Goal:
    """Asks hooks, policy and approver about the command of a goal that was typed as a slash command, since a prompt can come from anywhere.

    Raises `OptionError` where it may not run.
    """
    goal = Goal(text=text.strip(), command=command.strip())
    if not goal.command:
        raise OptionError("goal", "it needs a command that shows whether it is met")
    if not goal.text:
        raise OptionError("goal", "it is empty")
    refuse_denied(deps.policy, goal.command)
    call = command_call(goal.command)
    said = await ask_before(deps.hooks, call, folder, None)
    if said.ruling is HookRuling.DENY or said.stop is not None:
        raise OptionError("goal", f"a hook denies its command: {said.reason or said.stop or 'it gave no reason'}")
    if said.input is not None and said.input != call.input:
        raise OptionError("goal", f"a hook puts another command in the place of its own: {said.input!r:.200}")
    verdict = deps.policy.judge_apart(call)
    is_open = said.ruling in {HookRuling.ASK, HookRuling.DEFER}
    if verdict.ruling is Ruling.ALLOW and verdict.holding is None and not is_open:
        return goal
    if deps.approver is None:
        raise OptionError(
            "goal",
            "its command needs approval, and nobody can be asked: allow it by a rule, or give --goal and --verify",
        )
    reason = (said.reason if is_open else verdict.reason) or "it would run whenever the model stops"
    answer = await deps.approver.approve(call, reason)
    if answer.ruling is not Ruling.ALLOW or answer.input not in (None, call.input):
        raise OptionError("goal", "its command was not approved")
    return goal


class GoalWork:
    """The goal's state in one query; each verification changes it."""

    def __init__(
        self,
        goal: Goal,
        verifier: Verifier,
        *,
        deps: Deps,
        config: Config,
        recorder: Recorder,
        query_id: str,
        since: float,
        goes_on: bool,
    ) -> None:
        """`since`, `goes_on`: as `ports.goal.Verifier.begin` takes them."""
        self.goal = goal
        self._verifier = verifier
        self._deps = deps
        self._config = config
        self._recorder = recorder
        self._query_id = query_id
        self._since = since
        self._goes_on = goes_on
        self._digests: tuple[str, ...] = ()
        self.attempts = 0
        self.state = "not_verified"
        self.files: tuple[GoalFile, ...] = ()
        self.told = ""
        """Message to the model about the last failure."""

    async def begin(self, unfinished: OpenQuery | None) -> None:
        """Watches the files that the command reads. `unfinished`: the query that this one continues."""
        if unfinished is not None and unfinished.digests:
            self._digests, self.attempts, self.state = unfinished.digests, len(unfinished.digests), "not_met"
        since = self._since or (unfinished.began_at if unfinished is not None else 0.0)
        await self._verifier.begin(self.goal.command, since=since, goes_on=self._goes_on)

    async def verify(self) -> GoalFailed | Failed | None:
        """Runs the command. Returns None where the goal is met. Cancelled, it ends the command."""
        goal, limits = self.goal, self._config.limits
        try:
            # Rules may have changed since the start.
            refuse_denied(self._deps.policy, goal.command)
            self._begin_attempt()
            began_s = self._deps.clock.elapsed()
            verification = await self._verifier.run(
                goal.command, limit_s=limits.goal_s, hiding=self._recorder.make_hiding()
            )
        except (OptionError, ToolFault) as error:
            said = error.problem if isinstance(error, OptionError) else str(error)
            return Failed(error=Problem(text=f"The goal cannot be verified: {said}", kind="goal", by_api=False))
        duration_s = self._deps.clock.elapsed() - began_s
        self.files = await self._verifier.find_touched()
        if not verification.passed:
            told = digest_output(verification.told, folder=self._config.folder, ended=verification.ended)
            self._digests = (*self._digests, told)
        stuck = not verification.passed and is_stuck(self._digests)
        self._end_attempt(verification, duration_s, stuck=stuck)
        if verification.passed:
            self._recorder.keep_notes(msgspec.structs.replace(self._recorder.notes, goal=None))
            return None
        self.told = wording.goal_failed(
            goal,
            verification,
            duration_s=duration_s,
            attempt=self.attempts,
            most=limits.goal_attempts,
            again=len(self._digests) > 1 and len(set(self._digests[-2:])) == 1,
        )
        return GoalFailed(stuck=stuck, error=Problem(text=self._say_given_up(stuck=stuck), kind="goal", by_api=False))

    def _begin_attempt(self) -> None:
        self.attempts += 1
        command, attempt = self.goal.command, self.attempts
        self._recorder.record(GoalVerifying(query_id=self._query_id, attempt=attempt, command=command))
        most = self._config.limits.goal_attempts
        self._recorder.emit(VerificationBegan(command=command, attempt=attempt, max_attempts=most))

    def _end_attempt(self, verification: Verification, duration_s: float, *, stuck: bool) -> None:
        self.state = "met" if verification.passed else "not_met"
        self._recorder.record(
            GoalVerified(
                query_id=self._query_id,
                attempt=self.attempts,
                passed=verification.passed,
                ended=verification.ended,
                duration_s=duration_s,
                digest="" if verification.passed else self._digests[-1],
                files=self.files,
            )
        )
        self._recorder.emit(
            VerificationEnded(
                command=self.goal.command,
                attempt=self.attempts,
                passed=verification.passed,
                ended=verification.ended,
                exit_code=verification.code,
                output=verification.end,
                duration_s=duration_s,
                stuck=stuck,
                files=self.files,
            )
        )

    def _say_given_up(self, *, stuck: bool) -> str:
        why = "the last three times with the same output" if stuck else "which is the limit (goal_attempts)"
        times = "once" if self.attempts == 1 else f"{self.attempts} times"
        return f"The goal is not met: its command failed {times}, {why}: {self.goal.command}"
