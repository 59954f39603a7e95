"""Finding solutions: with a policy (greedy, beam, look-ahead), without one, or by SymPy."""
