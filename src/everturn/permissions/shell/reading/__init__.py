"""From the text of a command line to what it says: words, commands, redirections, variables, folders, and what of it is doubtful."""
