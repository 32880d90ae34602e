"""What the engine needs of the world, as Protocols and the values they speak. Each says whether it may raise."""
