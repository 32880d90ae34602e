"""Starts a process from a thread that has given up rights for good: the process has them no more, the program keeps them."""

import threading
from collections.abc import Callable


def run_after(enter: Callable[[], None], begin: Callable[[], int]) -> int:
    """`begin` is called where `enter` was. Raises what they raise."""
    began: list[int] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            enter()
            began.append(begin())
        except BaseException as error:  # noqa: BLE001 - raised again where somebody waits for it
            failed.append(error)

    thread = threading.Thread(target=run, name="everturn-confined")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return began[0]
