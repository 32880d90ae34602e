"""Whether a command line may run without a question: every part by a rule, by the mode, or because it only reads."""
