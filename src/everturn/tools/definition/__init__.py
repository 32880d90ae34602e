"""What makes a tool of a function: the decorator `tool`, its signature, docstring and schema, and how inputs of a model are read."""
