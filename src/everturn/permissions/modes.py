"""Permission modes: what runs where no rule decides, and how one mode follows another."""

from enum import StrEnum

from everturn.core.errors import OptionError


class Mode(StrEnum):
    DEFAULT = "default"
    """Reads inside the folder; asks for the rest."""
    ACCEPT_EDITS = "acceptEdits"
    """Edits inside the folder, too."""
    BYPASS = "bypassPermissions"
    """Everything that no deny or ask rule names."""
    PLAN = "plan"
    """Nothing that changes anything."""
    DONT_ASK = "dontAsk"
    """What would be asked is denied."""


class ModeSwitch:
    """`ports.modes.Modes`. `mode` may be changed at any time and counts from the next call on."""

    def __init__(self, mode: str, *, bypass_disabled: bool = False) -> None:
        """Raises `OptionError`."""
        self._bypass_disabled = bypass_disabled
        self._mode = self._before_plan = Mode.DEFAULT
        self.mode = mode

    @property
    def mode(self) -> Mode:
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        try:
            chosen = Mode(mode)
        except ValueError:
            raise OptionError("permission_mode", f"must be one of {', '.join(Mode)}, not {mode!r}") from None
        if chosen is Mode.BYPASS and self._bypass_disabled:
            raise OptionError(
                "permission_mode", f"{chosen} is switched off by permissions.disableBypassPermissionsMode"
            )
        if self._mode is not Mode.PLAN:
            self._before_plan = self._mode
        self._mode = chosen

    def switch(self, mode: str) -> None:
        self.mode = mode

    def forbid_bypass(self, *, off: bool) -> str:
        """Whether bypassPermissions is refused from now on. A sentence where that ends the mode we are in, else empty."""
        self._bypass_disabled = off
        if not off or Mode.BYPASS not in {self._mode, self._before_plan}:
            return ""
        was_on = self._mode is Mode.BYPASS
        self._before_plan = Mode.DEFAULT
        self._mode = Mode.DEFAULT if was_on else self._mode
        return f"{Mode.BYPASS} was switched off by the settings: the mode is {self._mode} now" if was_on else ""

    def leave_plan(self) -> str:
        if self._mode is Mode.PLAN:
            self._mode = self._before_plan
        return str(self._mode)
