"""`everturn sessions`: what was said before, found, shown, named, exported and removed."""
