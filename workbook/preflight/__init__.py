"""`workbook preflight`: reads a mobile project, before it is built, and judges it by the rules. It changes nothing.

`project` walks the files; `gradle`, `platform_b` and `sources` read them, each by its own grammar; `signing` reads
certificates; `cases` is the table of what is judged; `run` carries it out. Verdicts, baseline and reports are those of
`workbook conform`.
"""
