"""What an agent does and why, from its solutions to plain data.

Files are imported one by one, for `probes` brings torch along:

    failures     why an equation was not solved
    trigger      who decides when variables change
    variants     the same equations with other letters
    derivations  what was derived, family by family, by one agent and by many
    controls     what a search without a policy finds with as many transitions
    kinds        structural types of equations
    probes       dormant neurons, and where the network puts the equations
    projection   principal components and t-SNE
"""
