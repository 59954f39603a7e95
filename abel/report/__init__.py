"""What a trained agent does, as studies, tables, figures and pages.

Files are imported one by one, for `reports` and `validation` bring torch along:

    study       a policy, equations, and what every decoder makes of them
    sets        all roots of a study's equations, and how many sets are complete
    reports     the reports, each from a study and its run to plain data
    validation  how training is doing, on validation equations
    tables      reports for a terminal
    page        documents of text, tables and figures
    pages       the reports as one page
"""
