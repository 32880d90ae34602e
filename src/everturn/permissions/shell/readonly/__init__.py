"""Commands that change nothing, judged by their options: they need no rule."""
