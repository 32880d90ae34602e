"""`everturn permissions`: what would happen, which rules are in force, what a new rule would change."""
