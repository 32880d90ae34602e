"""The sandbox for commands: bubblewrap where it works, else Landlock with seccomp, else a warning or a refusal."""
