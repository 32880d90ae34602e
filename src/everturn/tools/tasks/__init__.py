"""TaskOutput and TaskStop: what the model can do about that which runs in the background."""

from everturn.tools.tasks.output import task_output_tool
from everturn.tools.tasks.stop import task_stop_tool

__all__ = ["task_output_tool", "task_stop_tool"]
