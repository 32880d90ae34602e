"""Speed as a number: Everturn beside two small loops, against one scripted server."""
