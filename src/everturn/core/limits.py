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
    """Output tokens that are requested at first."""
    output_cap_thinking: int = 32_000
    """The same for a model that thinks: thinking counts as output."""
    output_cap_escalated: int = 64_000
    output_recoveries: int = 3
    escalate: bool = True
    """Request a cut answer again with a larger cap. `max_output_tokens` switches this off."""
    stop_hook_blocks: int = 8
    goal_attempts: int = 20
    """Failed verifications of a goal after which the query ends."""
    goal_s: float = 600.0
    """Seconds that the command of a goal may take; 0 = no limit."""
    pauses: int = 10
    reactive_compact: bool = True
    media_drops: int = 3
    """How many times refused media is removed between two tool rounds: first the one that the refusal names, or the newest; the last time all of it."""

    tries: int = 10
    """Attempts per model in one call."""
    unreached_tries: int = 5
    """Attempts (at most `tries`) without a connection in a session that has no answer yet, because the address may be wrong."""
    unanswered_s: float = 180.0
    """Seconds after which no further attempt begins in such a session; 0 = no limit."""
    overloads_before_fallback: int = 3
    backoff_first_s: float = 0.5
    backoff_most_s: float = 32.0
    max_retry_after: float = 60.0
    """Longest wait in seconds that a server may ask for. If it asks for more, the query ends and says when to try again."""
    retry_scale: float = 1.0
    """Shortens the sleep, not the announced delay; for tests."""
    stall_s: float = 90.0
    """Seconds of silence after which a stream counts as broken; a ping ends the silence."""
    first_event_s: float = 300.0
    """Seconds until an answer must begin, pings not counted; then the attempt fails. 0 = no limit."""
    connect_s: float = 20.0

    tool_concurrency: int = 10
    server_wait_s: float = 5.0
    """Seconds that the first prompt waits for MCP servers of which nothing is known yet; a session with a person does not wait. 0 = not at all."""
    deferred_share: float = 0.05
    """Share of the window above which the definitions of MCP tools are not listed, but found by ToolSearch."""
    read_tokens: int = 25_000
    """Tokens that one Read may return; a larger file is cut there."""
    command_memory_mb: int = 7_500
    """Memory that one process of a command may hold, at most three quarters of the machine's; 0 = no limit."""
    command_processes: int = 4_096
    """Processes of one command at the same time; 0 = no limit."""
    command_threads: int = 16_384
    """Threads of all processes of one command at the same time; 0 = no limit."""
    abort_grace_s: float = 2.0
    """Seconds in which a tool must end after an interruption."""

    result_preview: int = 4_000
    """Characters that the model sees of a result that is too large, from its beginning and end; a file has the whole."""
    message_results: int = 200_000
    """Characters that the results of one round may have together; above it the largest are saved to files."""
    snip_tokens: int = 0
    """Tokens of messages above which the oldest finished rounds are no longer sent; 0 = never."""
    clear_share: float = 0.25
    """Share of the window, without the reserved output, above which stale results are cleared: the oldest first, until the share is reached."""
    clear_gain: float = 0.38
    """Share of the window, counted up to 375,000 tokens, that clearing must free at once, because the API must read everything after it again."""
    clear_worth: float = 0.5
    """Share of the tokens after the first cleared result that clearing must also free."""
    clear_keeps: int = 5
    """Number of the latest results that are never stale, besides those that no request has sent yet."""
    clear_small: int = 2_000
    """Tokens up to which a small result is kept, too, among as many results before the latest ones; never more than 1.2 % of the window."""
    clear_kept: float = 0.06
    """Share of the window, without the reserved output, that the kept results may take together. At least half of them stay."""
    auto_compact: bool = True
    compact_share: float = 0.9
    """Share of the window, without the reserved output, above which the conversation is summarised."""
    compact_failures: int = 3
    """Failed compactions in a row after which no more is tried in this session."""
    collapse_share: float = 0.8
    """Share of the window above which summaries of finished work are used, one at a time; below it only if the cache is broken anyway."""
    collapse_from: float = 0.15
    """Share of the window above which finished stretches of work are summarised in the background."""
    summary_tries: int = 3
    """How many times a summary request that is itself too long is shortened and sent again."""
    summary_output: int = 8_192
    summary_s: float = 180.0
    """Seconds that a summary may take, all tries included; 0 = no limit."""
    restored_files: int = 5
    """Files read last that are shown again after a compaction."""
    restored_tokens: int = 20_000
    """Tokens that these files may take together; never more than a tenth of the window."""
    recalled_tokens: int = 4_000
    """Tokens of earlier prompts that are sent again word for word after a compaction, the latest first."""
    file_states: int = 1_000
