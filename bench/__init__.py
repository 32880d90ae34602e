"""Speed as a number: Everturn beside two loops of forty lines, against one scripted server."""
