"""What the web tools stand on: which addresses may be reached, how they are reached, and one bounded GET."""
