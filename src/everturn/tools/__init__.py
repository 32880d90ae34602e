"""What the model can do: one module or folder per tool, and `define`, which makes a tool of a function."""
