"""`python -m workbook`: the same as the `workbook` command."""

from __future__ import annotations

import sys

from workbook.cli import main

sys.exit(main())
