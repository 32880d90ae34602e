"""What is known of all sessions at once: derived from their files alone, and made again from them at any time."""
