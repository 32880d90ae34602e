"""What the model is told before the conversation: the sections of the system prompt, the permission mode, the environment. Pure."""
