"""`workbook preflight`: reads a mobile project, before it is built, and judges it by the rules. It changes nothing.

`project` finds the files and reads Swift and Kotlin; `gradle` and `targets` read what builds them; `signing` and
`profiles` read what signs them; `cases_a`, `cases_b` and `cases_text` hold the cases; `run` carries them out. Verdicts,
baseline and reports are those of `workbook conform`.
"""
