"""What a trained agent does, as studies, tables, figures and pages.

Files are imported one by one, for `probes` brings torch along:

    study      a policy, equations, and what every decoder makes of them
    sets       all roots of a study's equations, and how many sets are complete
    failures   why an equation was not solved
    trigger    who decides when variables change
    variants   the same equations with other letters
    kinds      structural types of equations
    learning   how the families were learned, from a run's event files
    probes     dormant neurons, and where the network puts the equations
    projection principal components and t-SNE
    tables     reports for a terminal
    page       documents of text, tables and figures
    pages      the reports as one page
"""
