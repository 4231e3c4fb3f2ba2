"""Property lists, and the literals of JavaScript and YAML. Nothing is evaluated: a computed value becomes COMPUTED."""

import json
import plistlib
import re
from collections import deque
from typing import Any

from workbook.base.files import pip_line
from workbook.errors import ConfigurationError

# A build setting that nothing sets looks like this, so a computed value is unknown wherever such a setting is.
COMPUTED = "$(computed)"


def read_plist(content: bytes) -> dict[str, Any] | None:
    """A property list in XML or binary form; None for anything else. Entities in XML are refused."""
    try:
        value = plistlib.loads(content)
    except Exception:  # noqa: BLE001
        return None
    return value if isinstance(value, dict) else None


def read_old_plist(text: str) -> Any:
    """A property list in the old text form, as project files have it; None for anything else."""
    pattern = r'//[^\n]*|/\*.*?(?:\*/|\Z)|\s+|"(?:\\.|[^"\\])*+(?:"|\\?\Z)|[{}()=;,]|[^\s{}()=;,"]+'
    as_json = {"{": "{", "}": "}", "(": "[", ")": "]", "=": ":", ";": ",", ",": ","}
    parts: list[str] = []
    for token in re.findall(pattern, text, re.DOTALL):
        if token.isspace() or token[:2] in {"//", "/*"}:
            continue
        if token in {"}", ")"} and parts[-1:] == [","]:  # JSON has no comma behind the last entry
            parts.pop()
        parts.append(as_json.get(token) or json.dumps(_unquote(token)))
    try:
        return json.loads("".join(parts))
    except (ValueError, RecursionError):
        return None


def read_yaml(text: str) -> Any:
    """A YAML document; None for anything else.

    Raises:
        ConfigurationError: the extra with the parser is not installed.
    """
    try:
        import yaml  # an extra brings it
    except ImportError:
        raise ConfigurationError(f"YAML is read with a parser: {pip_line('preflight')}") from None
    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None


def read_javascript(text: str) -> Any:
    """The object that a module of JavaScript exports, or that a JSON file holds; None where there is none."""
    pattern = r"""//[^\n]*|/\*.*?(?:\*/|\Z)|\s+|"(?:\\.|[^"\\\n])*+"?|'(?:\\.|[^'\\\n])*+'?|`[^`]*+`?|[\w$.-]+|."""
    found = re.findall(pattern, text, re.DOTALL)
    tokens = deque(token for token in found if not token.isspace() and token[:2] not in {"//", "/*"})
    for word in ("module.exports", "exports.default", "default"):
        if word in tokens:
            while tokens[0] != word:
                tokens.popleft()
            break
    # an object, and neither the body of a function nor what it takes apart
    while len(tokens) > 2 and not (tokens[0] == "{" and (tokens[2] == ":" or tokens[1][:3] in {"...", "}"})):
        tokens.popleft()
    try:
        return _read_object(tokens)
    except (IndexError, ValueError, RecursionError):
        return None


def _read_value(tokens: deque[str]) -> Any:
    """The value at the front, up to the comma or bracket behind it."""
    value: Any = COMPUTED
    if tokens[0] == "{":
        value = _read_object(tokens)
    elif tokens[0] == "[":
        value = []
        tokens.popleft()
        while tokens[0] != "]":
            value.append(_read_value(tokens))
            _skip_comma(tokens, "]")
        tokens.popleft()
    elif tokens[0][0] in "\"'" or re.fullmatch(r"true|false|null|-?\d+(\.\d+)?", tokens[0]):
        token = tokens.popleft()
        value = _unquote(token) if token[0] in "\"'" else json.loads(token)
    depth = 0
    while tokens and (depth or tokens[0] not in {",", "}", "]", ")", ";"}):  # an operator behind it, or a call
        sign, value = tokens.popleft(), COMPUTED
        depth += {"{": 1, "[": 1, "(": 1, "}": -1, "]": -1, ")": -1}.get(sign, 0)
        is_doubled = sign in {"|", "?"} and tokens[0] == sign
        if not depth and (sign == ":" or is_doubled):  # `a ? b : c`, `a || c`, `a ?? c`
            if is_doubled:
                tokens.popleft()
            default = _read_value(tokens)
            return default if isinstance(default, str) else COMPUTED  # a text, where the environment sets nothing
    return value


def _read_object(tokens: deque[str]) -> dict[str, Any]:
    """The object at the front; what it takes from elsewhere stands under `...`."""
    value: dict[str, Any] = {}
    tokens.popleft()
    while tokens[0] != "}":
        key = tokens.popleft()
        if tokens[0] == ":":
            tokens.popleft()
            value[_unquote(key)] = _read_value(tokens)
        else:  # `...config`, a name alone, or a function
            value["..." if key.startswith("...") else key] = COMPUTED
            tokens.appendleft(key)
            _read_value(tokens)
        _skip_comma(tokens, "}")
    tokens.popleft()
    return value


def _skip_comma(tokens: deque[str], closing: str) -> None:
    if tokens[0] == ",":
        tokens.popleft()
    elif tokens[0] != closing:
        raise ValueError("no literal")


def _unquote(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1], flags=re.DOTALL) if token[0] in "\"'" else token
