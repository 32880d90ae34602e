"""`everturn demo`: the real loop repairs a real repository; only the model is scripted."""
