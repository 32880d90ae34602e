"""How people and programs meet the engine: each frontend shows its events and hands it prompts."""
