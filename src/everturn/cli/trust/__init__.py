"""`everturn trust`, and the question about a folder that is not trusted yet."""
