"""From the transcript to a view that fits the window: one file per stage, and the pipeline that lists them."""
