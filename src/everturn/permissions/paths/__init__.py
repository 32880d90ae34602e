"""Which files a call may touch: patterns, both ends of links, and what is never pre-approved."""
