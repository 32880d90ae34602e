"""Asking a person at a terminal: whether a call may run, which of several ways to take, whether a plan is good."""
