"""The walk over the parser's tree, one class that grows by inheritance: each module adds what it can read.

Notes, scopes, words, heredocs, redirects, commands, conditions, compounds, and `reading` on top, which begins the walk.
"""
