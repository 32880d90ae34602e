"""What is added after a tool round, before the next call: the user's queued words, changed files, finished tasks."""

from collections.abc import Sequence

import msgspec

from everturn.core.events import Attached
from everturn.core.messages import Kind, Message, text_block
from everturn.engine import wording
from everturn.engine.command_queue import CommandQueue
from everturn.engine.deps import Deps
from everturn.engine.recorder import Recorder
from everturn.ports.files import FileState, FileStates, Stamp
from everturn.ports.tasks import Tasks


class Attachments:
    def __init__(self, *, deps: Deps, recorder: Recorder, queue: CommandQueue, files: FileStates, tasks: Tasks) -> None:
        self._deps = deps
        self._recorder = recorder
        self._queue = queue
        self._files = files
        self._tasks = tasks

    def collect(self, address: str) -> list[Message]:
        """Adds attachments to the transcript and returns them; the caller adds them to the view."""
        queued, (changed, own, gone), finished = self._queued(address), self._find_changed(), self._finished()
        told = [wording.changed_files(changed)] if changed else []
        told += [wording.removed_files(gone)] if gone else []
        told += [wording.files_changed_by_command(own)] if own else []
        told += map(wording.hook_async, self._deps.hooks.take_context())
        return self._attach([*queued, *told, *finished, *self._hidden()], (*changed, *gone))

    def collect_finished(self) -> list[Message]:
        """Adds the reports of background tasks that ended between two prompts."""
        return self._attach(self._finished())

    def attach_pins(self, unpinned: Sequence[str]) -> None:
        """Tells the model about pinned notes that it does not know yet, and about notes that were removed."""
        pins = self._recorder.notes.pins
        if not pins and not unpinned:
            return
        heard = "\n".join(m.text for m in self._recorder.view if m.kind in {Kind.ATTACHMENT, Kind.SUMMARY})
        taken_back = [wording.unpinned(pin) for pin in unpinned if pin in heard and pin not in pins]
        self._attach([*taken_back, *(wording.pinned(pin) for pin in pins if pin not in heard)])

    def attach_said(self, texts: Sequence[str]) -> list[Message]:
        """Adds texts of hooks for the model, each text once: after four edits of one file hooks often say the same four times."""
        return self._attach(list(dict.fromkeys(texts)))

    def attach_goal(self) -> None:
        """Tells the model about the goal, if it does not know it yet, and that one it knows no longer applies."""
        goal = self._recorder.notes.goal
        told = wording.goal_set(goal) if goal is not None else wording.goal_over()
        heard = [m.text for m in self._recorder.view if m.kind is Kind.ATTACHMENT and wording.is_about_goal(m.text)]
        if not heard and goal is None:
            return
        if not heard or told not in heard[-1]:
            self._attach([told])

    def attach_hidden(self) -> None:
        """Tells the model where a credential was replaced in the messages with which the query begins."""
        self._attach(self._hidden())

    def _hidden(self) -> list[str]:
        places, self._recorder.hidden_in = self._recorder.hidden_in, []
        return [wording.hidden_credentials(list(dict.fromkeys(places)))] if places else []

    def attach_gone(self, paths: Sequence[str]) -> None:
        """Tells the model which files with large results were deleted, if messages that are sent still name them. Each file is named once."""
        told = "\n".join(m.text for m in self._recorder.transcript if m.kind is Kind.ATTACHMENT) if paths else ""
        missed = [path for path in paths if wording.gone_file(path) not in told and self._is_named(path)]
        if missed:
            self._recorder.emit(Attached(kind="gone_files", detail={"paths": missed}))
            self._attach([wording.gone_files(missed)])

    def attach_gone_scratch(self, path: str) -> None:
        """Tells the model that the scratch folder of the resumed session no longer exists."""
        if path:
            self._recorder.emit(Attached(kind="gone_files", detail={"paths": [path]}))
            self._attach([wording.gone_scratch(path)])
            for file, _ in self._files:
                if file.startswith(f"{path}/"):
                    self._files.note_outdated(file)

    def _is_named(self, path: str) -> bool:
        written = msgspec.json.encode(path)[1:-1]
        return any(written in block.raw for message in self._recorder.view for block in message.blocks)

    def _attach(self, texts: list[str], changed: Sequence[str] = ()) -> list[Message]:
        if not texts:
            return []
        blocks = tuple(map(text_block, texts))
        message = Message(id=self._deps.ids.new(), role="user", kind=Kind.ATTACHMENT, blocks=blocks)
        for path in changed:
            self._files.note_change(path, message.id)
        return [self._recorder.add(message)]

    def _queued(self, address: str) -> list[str]:
        texts = []
        for command in self._queue.take(address):
            self._recorder.emit(Attached(kind="queued_command", detail={"command_id": command.id}))
            texts.append(wording.queued_command(command.text))
        return texts

    def _find_changed(self) -> tuple[list[str], list[str], list[str]]:
        """Files that the model has read: those that somebody changed, those that changed while a command of the model ran, those that are gone."""
        changed: list[str] = []
        own: list[str] = []
        gone: list[str] = []
        for path, state in self._files:
            if state.outdated or not self._deps.files.changed(path, state.stamp):
                continue
            self._files.note_outdated(path)
            if self._deps.files.is_gone(path):
                gone.append(path)
            else:
                (own if self._is_left_so(path, state) else changed).append(path)
        for paths, more in ((changed, {}), (own, {"by_command": True}), (gone, {"gone": True})):
            if paths:
                self._recorder.emit(Attached(kind="changed_files", detail={"paths": paths, **more}))
        return changed, own, gone

    def _is_left_so(self, path: str, state: FileState) -> bool:
        """Whether the file is as it was at the end of the command that changed it."""
        if state.left is None:
            return False
        size, mtime_ns = state.left
        return not self._deps.files.changed(path, Stamp(size=size, mtime_ns=mtime_ns, digest=""))

    def _finished(self) -> list[str]:
        texts = []
        for report in self._tasks.take_finished():
            detail = {
                "task_id": report.id,
                "tool_use_id": report.tool_use_id,
                "status": report.status,
                "output_file": report.output_path,
                "summary": f"{report.description}: {report.summary}",
            }
            self._recorder.emit(Attached(kind="finished_task", detail=detail))
            texts.append(wording.finished_task(report))
        return texts
