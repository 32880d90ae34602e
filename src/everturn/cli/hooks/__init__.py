"""`everturn hooks`: which hooks are configured, and what they answer to an event."""
