"""Which files a command line opens, reads and writes, for rules about files and for protected paths."""
