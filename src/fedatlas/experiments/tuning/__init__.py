"""How the best of tuned values is searched for."""
