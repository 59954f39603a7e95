"""What a trained agent does, as studies, tables, figures and pages."""
