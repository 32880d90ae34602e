"""The only way out of the sandbox: a proxy of ours that knows which hosts may be reached."""
