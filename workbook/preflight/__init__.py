"""`workbook preflight`: reads a mobile project, before it is built, and judges it by the rules. It changes nothing.

`project` walks the files; `gradle`, `platform_b` and `sources` read them, each by its own grammar; `signing` reads
certificates; `judges_a` and `judges_b` hold the cases; `run` carries them out. Verdicts, baseline and reports are those
of `workbook conform`.
"""
