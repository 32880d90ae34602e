"""The permission mode in force, and how one mode follows another."""

from everturn.core.errors import OptionError
from everturn.core.modes import PermissionMode


class ModeSwitch:
    """`ports.tool.Modes`. `mode` may be changed at any time and counts from the next call on."""

    def __init__(self, mode: str, *, bypass_disabled: bool = False) -> None:
        """Raises `OptionError`."""
        self._bypass_disabled = bypass_disabled
        self._mode = self._before_plan = PermissionMode.DEFAULT
        self.mode = mode

    @property
    def mode(self) -> PermissionMode:
        return self._mode

    @mode.setter
    def mode(self, mode: str) -> None:
        try:
            chosen = PermissionMode(mode)
        except ValueError:
            raise OptionError("permission_mode", f"must be one of {', '.join(PermissionMode)}, not {mode!r}") from None
        if chosen is PermissionMode.BYPASS and self._bypass_disabled:
            raise OptionError(
                "permission_mode", f"{chosen} is switched off by permissions.disableBypassPermissionsMode"
            )
        if self._mode is not PermissionMode.PLAN:
            self._before_plan = self._mode
        self._mode = chosen

    def switch(self, mode: str) -> None:
        self.mode = mode

    def forbid_bypass(self, *, off: bool) -> str:
        """Whether bypassPermissions is refused from now on. A sentence where that ends the mode we are in, else empty."""
        self._bypass_disabled = off
        if not off or PermissionMode.BYPASS not in {self._mode, self._before_plan}:
            return ""
        was_on = self._mode is PermissionMode.BYPASS
        self._before_plan = PermissionMode.DEFAULT
        self._mode = PermissionMode.DEFAULT if was_on else self._mode
        return (
            f"{PermissionMode.BYPASS} was switched off by the settings: the mode is {self._mode} now" if was_on else ""
        )

    def leave_plan(self) -> str:
        if self._mode is PermissionMode.PLAN:
            self._mode = self._before_plan
        return str(self._mode)
