"""May a call run? Modes decide; where they say ask, a person does."""
