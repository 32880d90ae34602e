"""`everturn trust`, and the question about a folder that nobody has trusted yet."""
