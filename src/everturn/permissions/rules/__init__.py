"""What the user has written down: rules, where they stand, and which of them decides."""
