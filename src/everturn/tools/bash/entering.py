"""Starts a process from a thread that has given up rights for good: the process has them no more, the program keeps them."""

import threading
from collections.abc import Callable


def run_after(enter: Callable[[], None], begin: Callable[[], int], stay: Callable[[], object] | None = None) -> int:
    """`begin` is called where `enter` was. Raises what they raise. `stay` is not waited for."""
    began: list[int] = []
    failed: list[BaseException] = []
    settled = threading.Event()

    def run() -> None:
        try:
            enter()
            began.append(begin())
        except BaseException as error:  # noqa: BLE001 - raised again where somebody waits for it
            failed.append(error)
        settled.set()
        if began and stay is not None:
            stay()

    threading.Thread(target=run, name="everturn-confined", daemon=True).start()
    settled.wait()
    if failed:
        raise failed[0]
    return began[0]
