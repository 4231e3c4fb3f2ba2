"""`workbook preflight`: reads a mobile project, before it is built, and judges it by the rules. It changes nothing.

`project` finds the files and reads Swift and Kotlin; `gradle` and `platform_b` read what builds them; `signing` reads
certificates; `judges` holds the cases; `run` carries them out. Verdicts, baseline and reports are those of `workbook
conform`.
"""
