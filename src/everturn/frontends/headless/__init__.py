"""One prompt without a dialogue: text, JSON or JSON lines on standard output."""
