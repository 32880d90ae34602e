"""Pictures and PDFs made fit for the API, in a process of its own: foreign bytes meet big decoders only there."""
