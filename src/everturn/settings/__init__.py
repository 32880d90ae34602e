"""What may be set and how it is checked: options, environment, and the setup they make together."""
