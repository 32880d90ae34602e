"""Programs of the user that the loop calls at fixed points, and what they may answer."""
