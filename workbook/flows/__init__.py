"""What the document says, as tables: no clock, no HTTP, no randomness, no widgets."""

from workbook.flows import messages as messages
