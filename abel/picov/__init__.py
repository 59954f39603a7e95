"""The paper's pi_cov: a network that writes the change of variables for an equation."""
