"""The async shell around the core: drives the ports, emits events, owns no policy."""
