"""Every number of the loop. Each is a setting; a query takes a snapshot at its start."""

import msgspec

WATCHED_RETRY_AFTER = 600.0
"""`Limits.max_retry_after` where a person watches, who can end the wait."""


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    max_turns: int = 0
    """Rounds with the API in one query; 0 = no limit."""
    max_usd: float = 0.0
    """USD of one query, all its model calls included; 0 = no limit. At most one call over."""
    max_session_usd: float = 0.0
    """USD of the whole session, what was spent before it was resumed included; 0 = no limit. At most one call over."""
    max_tokens_total: int = 0
    """Tokens of one query, all four counters; 0 = no limit."""
    max_tool_calls: int = 0
    max_wall_s: float = 0.0
    max_repeated_calls: int = 20
    """Identical calls (same tool, input and result) with nothing new between them; 0 = no limit."""
    structured_retries: int = 5

    work_budget: int = 0
    """Output tokens that a query should spend; 0 = off."""
    work_threshold: float = 0.9
    work_min_gain: int = 500
    work_min_continuations: int = 3

    output_cap: int = 8_192
    """Output tokens asked for, as long as nothing raised it."""
    output_cap_thinking: int = 32_000
    """The same for a model that thinks: its thoughts count as output."""
    output_cap_escalated: int = 64_000
    output_recoveries: int = 3
    escalate: bool = True
    """A caller's own output cap switches this off: it is an override already."""
    stop_hook_blocks: int = 8
    pauses: int = 10
    reactive_compact: bool = True
    media_drops: int = 3
    """Times that refused media is taken out between two tool rounds: what the refusal names, or the newest; at the last time all."""

    tries: int = 10
    """Attempts per model in one call."""
    unreached_tries: int = 5
    """Attempts, at most `tries`, while no connection and no answer comes in a session that has no answer yet: its address may be wrong."""
    unanswered_s: float = 180.0
    """Seconds after which no further attempt begins in such a session, however few there were; 0 = no limit."""
    overloads_before_fallback: int = 3
    backoff_first_s: float = 0.5
    backoff_most_s: float = 32.0
    max_retry_after: float = 60.0
    """Seconds that a server may ask us to wait; where it asks for more, the query ends and says when to try again."""
    retry_scale: float = 1.0
    """Shortens the sleep, not the announced delay; for tests."""
    stall_s: float = 90.0
    """Silence after which a stream counts as broken; pings are not silence."""
    first_event_s: float = 300.0
    """Seconds until an answer begins, pings do not count; after that the attempt has failed. 0 = no limit."""
    connect_s: float = 20.0

    tool_concurrency: int = 10
    read_tokens: int = 25_000
    """Tokens that one Read may bring; a whole file beyond it is shown up to there."""
    command_memory_mb: int = 7_500
    """Memory that one process of a command may hold, at most three quarters of the machine's; 0 = no limit."""
    command_processes: int = 4_096
    """Processes of one command at the same time; 0 = no limit."""
    command_threads: int = 16_384
    """Threads of all processes of one command at the same time; 0 = no limit."""
    abort_grace_s: float = 2.0
    """From the abort signal to the end of a tool that does not obey."""

    result_preview: int = 4_000
    """Characters that stay in sight of a result that is too large, from both its ends; the whole is in a file."""
    message_results: int = 200_000
    """Characters that the results of one round may bring together; beyond it the largest go into files."""
    snip_tokens: int = 0
    """Tokens of messages above which the oldest finished rounds are no longer sent; 0 = never."""
    clear_share: float = 0.25
    """Of the window without the reserved output: above it stale results are cleared, the oldest first, until it is reached."""
    clear_gain: float = 0.38
    """Of the same, up to 375,000 tokens of it: what clearing must free at once, since it makes the API read everything after it anew."""
    clear_worth: float = 0.5
    """And of what stands behind the first cleared result: what clearing must free at once."""
    clear_keeps: int = 5
    """Results that are not stale: the latest, besides those that no request has carried yet."""
    clear_small: int = 2_000
    """Tokens of a result up to which it stays while it is not old: of as many before the latest, and never more than 1.2 % of the window."""
    clear_kept: float = 0.06
    """Of the window without the reserved output: what these may take together. At least half of them stay."""
    auto_compact: bool = True
    compact_share: float = 0.9
    """Of the window without the reserved output."""
    compact_failures: int = 3
    """Failed compactions in a row after which it stops trying in this session."""
    collapse_share: float = 0.8
    """Above it staged collapses are committed, one at a time; below it only where the cache is broken anyway."""
    collapse_from: float = 0.15
    """Above it finished stretches of work are summarised in the background."""
    summary_tries: int = 3
    """Times a summary that is itself too long is cut and sent again."""
    summary_output: int = 8_192
    summary_s: float = 180.0
    """Time that a summary may take, all tries included; 0 = no limit."""
    restored_files: int = 5
    """Files read last that are shown again after a compaction."""
    restored_tokens: int = 20_000
    """What these files may take together; never more than a tenth of the window."""
    recalled_tokens: int = 4_000
    """Earlier prompts that are repeated word for word after a compaction, the latest first."""
    file_states: int = 1_000
