"""Git's own files, read without running git: its settings, its index, and where a repository lies."""
