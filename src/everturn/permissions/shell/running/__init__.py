"""What a command line may run besides what it names: behind runners, in scripts, in code of other languages. For rules that deny and ask."""
