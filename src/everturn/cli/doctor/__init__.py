"""`everturn doctor`: what a run needs, checked one by one, each with how to mend it."""
