"""The integrator's own app, run against a phone that the workbook plays."""
