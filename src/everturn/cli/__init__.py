"""The program: arguments in, a profile composed, a frontend run, an exit code out."""
