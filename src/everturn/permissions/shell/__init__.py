"""What a shell command would do, and whether the rules cover all of it."""
