"""The paper's pi_cov: a network that writes the change of variables for an equation.

Files are imported one by one, for all but `grammar` bring torch along:

    grammar    substitutions as programs, and what the network sees of an equation
    network    the network, and the substitutions that it writes
    supervise  its training: cloning the CAS detector
    exactness  its answers beside the CAS detector's
"""
