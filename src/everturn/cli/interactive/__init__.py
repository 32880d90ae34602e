"""`everturn` without -p: the interactive terminal, and what it needs of the program around it."""
