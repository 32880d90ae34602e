"""The walk over the parser's tree, one class that grows by inheritance: each module adds what it can read.

Notes, words, heredocs, redirects, commands, compounds, and `reading` on top, which begins the walk.
"""
