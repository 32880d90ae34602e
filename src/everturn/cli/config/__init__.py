"""`everturn config`: reads settings with their origins, and changes the user's file."""
