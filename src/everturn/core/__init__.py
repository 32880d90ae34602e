"""The pure heart: values, and functions from values to values. No waiting, no clock, no ids, no files, no network."""
