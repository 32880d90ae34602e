"""Opening, reading and replacing files safely: the one room that tools and permissions share."""
