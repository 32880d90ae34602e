"""`--verbose` for text in a pipe: what happens, in sentences with figures as people read them, on standard error."""

import os

from everturn.cli.console import complain
from everturn.cli.debug import known_secrets
from everturn.core import events as ev
from everturn.frontends.figures import render_count, render_duration, render_usage, render_usd
from everturn.frontends.harmless import make_line
from everturn.models.anthropic.key_mask import mask_secrets


def tell_event(event: ev.Event) -> None:
    if told := render_told(event):
        complain(mask_secrets(make_line(told), known_secrets(os.environ)))


def render_told(event: ev.Event) -> str:
    """One line; empty for what needs no word, and for what is said to a pipe anyway (warnings, errors)."""
    match event:
        case ev.RequestStarted(turn=turn, model=model):
            return f"turn {turn}: asking {model}"
        case ev.RetryScheduled(attempt=attempt, max_tries=most, delay_s=delay_s, text=text):
            return f"attempt {attempt} of {most} failed: {text.rstrip('.')}; next in {render_duration(delay_s)}"
        case ev.Retracted(cause=cause):
            return f"the part of the answer that came is withdrawn ({cause})"
        case ev.ModelSwitched(before=before, model=model, cause=cause):
            return f"{model} answers instead of {before}: {cause}"
        case ev.CallBegan(line=line):
            return f"begins: {line}"
        case ev.CallDenied(name=name, line=line, reason=reason):
            return f"not allowed: {line or name} ({reason})"
        case ev.CallEnded(name=name, began=False, call_line=call_line, line=line):
            return f"did not run: {call_line or name} ({line})"
        case ev.CallEnded(name=name, is_error=is_error, duration_s=duration_s, line=line):
            done = f": {line}" if line else ""
            return f"{name} {'failed' if is_error else 'ended'} after {render_duration(duration_s)}{done}"
        case ev.HookRan(hook=hook, name=name, duration_s=duration_s, decision=decision):
            return f"{hook} hook {name} took {render_duration(duration_s)}: {decision or 'nothing to say'}"
        case ev.ModeSwitched(before=before, mode=mode):
            return f"permission mode {mode} instead of {before}"
        case ev.ContextChanged(stage=stage, cause=cause, tokens_before=before, tokens_after=after):
            sizes = f": {before:,} → {after:,} tokens" if before else ""
            return f"what is sent was changed by {stage} ({cause}){sizes}"
        case ev.CacheMissed(segment=segment, cause=cause, tokens=tokens, usd=usd):
            return f"the cache broke at {segment} ({cause}): {tokens:,} tokens paid for again, {render_usd(usd)} more"
        case ev.UsageReported(model=model, usage=usage, usd=usd):
            return f"cost {render_usd(usd)} for {model}: {render_usage(usage)}"
        case ev.Continued(transition=transition, turn=turn):
            return f"goes on with turn {turn}: {transition}"
        case ev.VerificationBegan(command=command, attempt=attempt, max_attempts=most):
            return f"verifies the goal ({attempt} of at most {most}): {command}"
        case ev.VerificationEnded(passed=passed, ended=ended, duration_s=duration_s):
            said = "the goal is met" if passed else "the goal is not met"
            return f"{said}: the command {ended} after {render_duration(duration_s)}"
        case ev.Noticed(text=text, level=ev.Level.INFO):
            return text
        case ev.ResultEvent(terminal_reason=reason, num_turns=turns, duration_s=duration_s, total_usd=usd):
            figures = (render_count(turns, "turn"), render_usd(usd), render_duration(duration_s))
            return f"ended: {reason} ({', '.join(figures)})"
        case _:
            return ""
