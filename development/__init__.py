"""What only a checkout needs and no wheel holds: the pages that are made from the code, and wrong policies for the tests."""
