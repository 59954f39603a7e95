"""A standing attack on the solving criterion: cases whose truth is known.

Files are imported one by one, and `python -m abel.bench audit` runs them:

    judge      asks the verifier about every case and checks each claim
    attacks    branches of functions next to their cuts
    plants     cases with something planted: a pole, an empty domain
    functions   absolute values, hyperbolic functions, both real branches of W
    mutants    true roots, left alone or changed in one place
"""
