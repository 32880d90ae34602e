"""The table of all hook events. Configuration, dispatch, answers and the reference page use it."""

from enum import StrEnum

import msgspec


class HookKind(StrEnum):
    COMMAND = "command"
    HTTP = "http"
    MCP_TOOL = "mcp_tool"
    PROMPT = "prompt"
    AGENT = "agent"


class ExitTwo(StrEnum):
    """The effect of exit code 2 and of the text on standard error."""

    BLOCKS = "blocks"
    TOLD = "goes to the model"
    SHOWN = "is shown to the person"
    IGNORED = "is ignored"


_PROGRAMS = (HookKind.COMMAND, HookKind.HTTP, HookKind.MCP_TOOL)
_EVERY = tuple(HookKind)
PROGRAM_S, PROMPT_S, AGENT_S = 600.0, 30.0, 60.0
"""Default time limits of programs and requests, of prompts, and of agents."""
SESSION_END_S, MAX_SESSION_END_S = 1.5, 60.0
"""Seconds for all hooks at the end of a session together, and the most that a longer `timeout` can make of it."""


class HookEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the table: one event for which hooks are called."""

    name: str
    when: str
    fields: dict[str, str] = {}
    """Fields of the input besides the common ones, with their meanings."""
    matched: str = ""
    """The input field that a matcher is compared with; empty: a matcher is ignored."""
    values: tuple[str, ...] = ()
    """Possible values of that field, if there is a fixed list."""
    strict_names: bool = False
    """Only letters, digits, `_` and `|` make a matcher a list of exact names."""
    kinds: tuple[HookKind, ...] = _EVERY
    program_s: float = PROGRAM_S
    """Default time limit of programs and requests."""
    plain_context: bool = False
    """The model reads plain text from standard output."""
    exit_2: ExitTwo = ExitTwo.IGNORED
    blocks: str = ""
    """The effect of a block, in words; empty: nothing can be blocked."""
    answers: tuple[str, ...] = ()
    """Fields of the JSON answer that count, besides those that count everywhere."""
    takes_context: bool = False
    """The model reads `additionalContext`."""
    sets_variables: bool = False
    """Its commands may write lines `export NAME=value` into the file that `CLAUDE_ENV_FILE` names, for later commands of Bash."""
    not_yet: str = ""
    """Why this version does not have the event; empty if it has it."""

    @property
    def beside(self) -> frozenset[str]:
        """Fields at the top of the JSON answer."""
        return frozenset({*COMMON_ANSWERS, "hookSpecificOutput", *(set(self.answers) - self.inside)})

    @property
    def inside(self) -> frozenset[str]:
        """Fields in its `hookSpecificOutput`."""
        own = set(self.answers) - ({*_DECISION} if self.name != "PermissionRequest" else set())
        return frozenset({*own, "hookEventName", *((CONTEXT,) if self.takes_context else ())})

    @property
    def is_of_tool(self) -> bool:
        """It is about a call, so `if` can be applied to it."""
        return self.matched == "tool_name"


_CALL = {"tool_name": "name of the tool", "tool_input": "the input of the call"}
_CALL_WITH_ID = {**_CALL, "tool_use_id": "id of the call"}
_DECISION = ("decision", "reason")
CONTEXT = "additionalContext"
MAX_WATCHED = 1_000
"""Number of files that answers may ask to watch (`watchPaths`): each is checked after every round of tools."""
AGENTS, TEAMS = "subagents", "agent teams"
_NEEDS = "it comes with {}"

_ELICITATION = {
    "mcp_server_name": "name of the server",
    "mode": "form or url",
    "elicitation_id": "id of the question, if it has one",
}
_ROWS = (
    HookEvent(
        name="PreToolUse",
        when="before a call runs, after its input was checked and before rules and the person are asked",
        fields=_CALL_WITH_ID,
        matched="tool_name",
        exit_2=ExitTwo.BLOCKS,
        blocks="the call does not run, and the model reads why",
        takes_context=True,
        answers=("permissionDecision", "permissionDecisionReason", "updatedInput", *_DECISION),
    ),
    HookEvent(
        name="PermissionRequest",
        when="before the person is asked about a call",
        fields={**_CALL, "permission_suggestions": "the rules that the person may add with a yes, if there are any"},
        matched="tool_name",
        answers=("decision",),
    ),
    HookEvent(
        name="PostToolUse",
        when="after a call has succeeded",
        fields={
            **_CALL_WITH_ID,
            "tool_response": "the result as an object",
            "duration_ms": "milliseconds that it took",
        },
        matched="tool_name",
        exit_2=ExitTwo.TOLD,
        blocks="the model reads the reason with the result",
        takes_context=True,
        answers=(*_DECISION, "updatedToolOutput"),
    ),
    HookEvent(
        name="PostToolUseFailure",
        when="after a call has failed; not after one that was denied or never ran",
        fields={
            **_CALL_WITH_ID,
            "error": "what went wrong",
            "is_interrupt": "true: the query was interrupted",
            "duration_ms": "milliseconds that it took",
        },
        matched="tool_name",
        exit_2=ExitTwo.TOLD,
        blocks="the model reads the reason with the result",
        takes_context=True,
        answers=_DECISION,
    ),
    HookEvent(
        name="PostToolBatch",
        when="when all calls of an answer have their results, before the model is called again",
        fields={"tool_calls": "a list with the tool_name, tool_input, tool_use_id and tool_response of each"},
        exit_2=ExitTwo.BLOCKS,
        blocks="the query ends before the next model call",
        takes_context=True,
        answers=_DECISION,
    ),
    HookEvent(
        name="UserPromptSubmit",
        when="when a prompt is submitted, before the model sees it",
        fields={"prompt": "the text of the prompt"},
        program_s=30.0,
        plain_context=True,
        exit_2=ExitTwo.BLOCKS,
        blocks="the prompt is not kept, and the model is not called",
        takes_context=True,
        answers=_DECISION,
    ),
    HookEvent(
        name="SessionStart",
        when="when a session begins, with its first prompt, and when it continues after a compaction",
        fields={"source": "how it begins", "model": "id of the model"},
        matched="source",
        values=("startup", "resume", "clear", "compact", "fork"),
        kinds=(HookKind.COMMAND, HookKind.MCP_TOOL),
        plain_context=True,
        exit_2=ExitTwo.SHOWN,
        takes_context=True,
        answers=("watchPaths",),
        sets_variables=True,
    ),
    HookEvent(
        name="SessionEnd",
        when="when a session is closed; all of its hooks together have 1.5 s, or as long as the longest `timeout` (at most 60 s)",
        fields={"reason": "why it is closed"},
        matched="reason",
        values=("clear", "resume", "logout", "prompt_input_exit", "other"),
        kinds=_PROGRAMS,
        program_s=SESSION_END_S,
        exit_2=ExitTwo.SHOWN,
    ),
    HookEvent(
        name="Stop",
        when="when the model stops without asking for tools",
        fields={
            "stop_hook_active": "true: a hook has sent the model back already",
            "last_assistant_message": "the text of the answer",
            "background_tasks": "a list of the tasks in the background: id, type, status and description",
            "session_crons": "an empty list",
        },
        exit_2=ExitTwo.BLOCKS,
        blocks="the model is sent back to work with the reason, at most 8 times in a query",
        takes_context=True,
        answers=_DECISION,
    ),
    HookEvent(
        name="StopFailure",
        when="when a query ends with an error; the program does not wait for these hooks",
        fields={
            "error": "kind of the error",
            "error_details": "the reason for which the query ended",
            "last_assistant_message": "the text of the error",
        },
        matched="error",
        values=(
            *("rate_limit", "overloaded", "authentication_failed", "oauth_org_not_allowed", "billing_error"),
            *("invalid_request", "model_not_found", "server_error", "max_output_tokens", "unknown"),
        ),
        strict_names=True,
        kinds=_PROGRAMS,
    ),
    HookEvent(
        name="PreCompact",
        when="before the conversation is summarised",
        fields={
            "trigger": "manual or auto",
            "custom_instructions": "what the person asked to keep; empty for auto",
        },
        matched="trigger",
        values=("manual", "auto"),
        kinds=_PROGRAMS,
        exit_2=ExitTwo.BLOCKS,
        blocks="the conversation is not summarised",
        answers=_DECISION,
    ),
    HookEvent(
        name="PostCompact",
        when="after the conversation was summarised",
        fields={"trigger": "manual or auto", "compact_summary": "the summary"},
        matched="trigger",
        values=("manual", "auto"),
        kinds=_PROGRAMS,
        exit_2=ExitTwo.SHOWN,
    ),
    HookEvent(
        name="Notification",
        when="when the loop waits for the person; the program does not wait for these hooks",
        fields={"message": "the text", "title": "a heading", "notification_type": "kind of the notification"},
        matched="notification_type",
        values=(
            *("permission_prompt", "idle_prompt", "auth_success", "elicitation_dialog", "elicitation_url_dialog"),
            *("elicitation_complete", "elicitation_response", "agent_needs_input", "agent_completed"),
        ),
        kinds=_PROGRAMS,
    ),
    HookEvent(
        name="InstructionsLoaded",
        when="when a memory file (AGENTS.md, CLAUDE.md) is sent to the model; the program does not wait for these hooks",
        fields={
            "file_path": "the file",
            "memory_type": "User or Project",
            "load_reason": "why it was read",
        },
        matched="load_reason",
        values=("session_start", "nested_traversal", "path_glob_match", "include", "compact"),
        kinds=_PROGRAMS,
    ),
    HookEvent(
        name="ConfigChange",
        when="when a settings file has changed while the session runs",
        fields={"source": "which settings", "file_path": "the file"},
        matched="source",
        values=("user_settings", "project_settings", "local_settings", "policy_settings", "skills"),
        kinds=_PROGRAMS,
        exit_2=ExitTwo.BLOCKS,
        blocks="a change that lets more run does not count in this session; a change that restricts still counts",
        answers=_DECISION,
    ),
    HookEvent(
        name="CwdChanged",
        when="when a command has moved the shell to another folder",
        fields={"old_cwd": "the folder before", "new_cwd": "the folder now"},
        kinds=_PROGRAMS,
        exit_2=ExitTwo.SHOWN,
        answers=("watchPaths",),
        sets_variables=True,
    ),
    HookEvent(
        name="FileChanged",
        when="when a watched file has changed; its matcher is also the list of files in the working folder to watch, `.env|.envrc`",
        fields={"file_path": "the file", "event": "change, add or unlink"},
        matched="file_path",
        strict_names=True,
        kinds=_PROGRAMS,
        exit_2=ExitTwo.SHOWN,
        answers=("watchPaths",),
        sets_variables=True,
    ),
    HookEvent(
        name="Elicitation",
        when="when an MCP server asks the person something while one of its tools runs, before the person is asked",
        fields=_ELICITATION
        | {"message": "what the server asks", "url": "address to open", "requested_schema": "schema of the form"},
        matched="mcp_server_name",
        kinds=_PROGRAMS,
        exit_2=ExitTwo.BLOCKS,
        blocks="the question is declined, and the person is not asked",
        answers=(*_DECISION, "action", "content"),
    ),
    HookEvent(
        name="ElicitationResult",
        when="when there is an answer to such a question, before the server gets it",
        fields=_ELICITATION | {"action": "accept, decline or cancel", "content": "what the form was filled with"},
        matched="mcp_server_name",
        kinds=_PROGRAMS,
        exit_2=ExitTwo.BLOCKS,
        blocks="the answer becomes a decline",
        answers=(*_DECISION, "action", "content"),
    ),
    *(
        HookEvent(name=name, when="", not_yet=_NEEDS.format(what))
        for what, names in {
            AGENTS: ("SubagentStart", "SubagentStop"),
            TEAMS: ("TeammateIdle", "TaskCreated", "TaskCompleted"),
            "worktrees": ("WorktreeCreate", "WorktreeRemove"),
            "the mode auto": ("PermissionDenied",),
            "skills and commands": ("UserPromptExpansion",),
            "a later version": ("Setup", "DirectoryAdded", "MessageDisplay"),
        }.items()
        for name in names
    ),
)
HOOK_EVENTS: dict[str, HookEvent] = {row.name: row for row in _ROWS}
COMMON_FIELDS = {
    "session_id": "id of the session",
    "transcript_path": "the session's file; the newest lines may be missing. Empty if the session is not saved",
    "cwd": "the folder that the next command starts in",
    "hook_event_name": "the event",
    "permission_mode": "default, plan, acceptEdits, dontAsk or bypassPermissions",
    "prompt_id": "id of the prompt, once there is one",
    "effort": "an object with `level`, if an effort is set",
}
COMMON_ANSWERS = {
    "continue": "false ends the query, whatever else the hook decides",
    "stopReason": "why, for the person",
    "systemMessage": "a warning for the person",
    "suppressOutput": "accepted, and without effect",
    "terminalSequence": "accepted, and without effect in this version",
}
WITHOUT_EFFECT = frozenset(
    {
        "sessionTitle",
        "initialUserMessage",
        "reloadSkills",
        "suppressOriginalPrompt",
        "updatedMCPToolOutput",
        "classifierContext",
    }
)
"""Fields of answers that other agents know, and that this version passes over."""
