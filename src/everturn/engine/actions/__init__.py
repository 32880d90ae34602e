"""One module per action of the loop. Each performs its action on a turn and returns the outcome; none decides what follows."""
