"""One test over all rows of a table: a test costs pytest and its workers five milliseconds, and most rows far less."""

import inspect
from functools import wraps


def rows(names, table):
    """Like `pytest.mark.parametrize`, but the rows are one test. A failure says which row it was.

    Args:
        names: of the test's arguments, one or several: a text, or a tuple of texts.
        table: the rows; each is one value, or a tuple of as many values as there are names.
    """
    names = (names,) if isinstance(names, str) else names
    table = [*table]
    assert table

    def decorate(test):
        @wraps(test)
        def test_all_rows(**fixtures):
            for row in table:
                try:
                    test(**fixtures, **dict(zip(names, row if len(names) > 1 else (row,), strict=True)))
                except BaseException as error:
                    error.add_note(f"The row is {row!r:.300}")
                    raise

        signature = inspect.signature(test)
        others = [parameter for name, parameter in signature.parameters.items() if name not in names]
        test_all_rows.__signature__ = signature.replace(parameters=others)
        return test_all_rows

    return decorate
