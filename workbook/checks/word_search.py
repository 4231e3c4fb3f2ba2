"""Which rows of the catalogue mention the words of a text: a search, and no verdict.

The weight of a row is BM25, the usual formula: a word counts more the rarer it is among the rows, and less in a long
row. A pair of neighbours counts as a word, too, so "not" stays beside its word. Beside the rows the index holds
subjects that are no business of ours. A text that fits one of them nearly as well as a row belongs to no row.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from workbook.base.values import nearest

# A person writes no more lines than these; a longer text is a log.
MOST_LINES = 20
_FAILURE = re.compile(r"(?i)error|exception|fail|fatal|denied|refused|terminat|killed|crash|invalid|not found|\bE/")


@dataclass(frozen=True, slots=True)
class Mention:
    """What a row shares with a text: how much it weighs, and the words, the rarest first."""

    weight: float
    words: tuple[str, ...]


class WordIndex:
    """The words of all rows.

    Args:
        rows: the texts of each row, by its number.
        given: the word lists of the catalogue: `empty`, `same`, `ours` and `elsewhere`.
    """

    def __init__(self, rows: Mapping[int, Iterable[str]], given: Mapping[str, Any]) -> None:
        self._empty = frozenset(given["empty"].split())
        self._same: dict[str, str] = {}
        for group in given["same"]:
            stems = [stem for stem, _word in self._stems(group)]
            self._same |= dict.fromkeys(stems, stems[0])
        self._ours = frozenset(stem for stem, _word in self._stems(given["ours"]))
        texts = {-number: (text,) for number, text in enumerate(given["elsewhere"], 1)} | dict(rows)
        self._terms = {
            number: Counter(term for text in every for term, _words in _with_pairs(self._stems(text)))
            for number, every in texts.items()
        }
        self._mean_size = sum(terms.total() for terms in self._terms.values()) / len(texts)
        spread = Counter(term for terms in self._terms.values() for term in terms)
        self._rarity = {term: math.log(1 + (len(texts) - many + 0.5) / (many + 0.5)) for term, many in spread.items()}
        self._rarest = max(self._rarity.values())
        self._known = [term for term in self._rarity if " " not in term]

    def search(self, text: str) -> tuple[dict[int, Mention], bool]:
        """The rows that share words with a text, by their numbers, and whether the text may be about us at all.

        Each sentence is searched for on its own, so that a long report finds what its one sentence finds. Of a log the
        first forty lines that tell of a failure are read.
        """
        lines = text.splitlines()
        is_log = len(lines) > MOST_LINES
        if is_log:
            sentences = [line for line in dict.fromkeys(lines) if _FAILURE.search(line)][:40]
        else:
            sentences = re.split(r"(?<=[.?!;])\s+|\n(?!\s*[a-z])", text)
        mentions: dict[int, Mention] = {}
        is_ours = is_log
        for sentence in sentences:
            terms = self._read(sentence[:2_000], is_log=is_log)
            weights = self._weigh(terms)
            best = max((number for number in weights if number > 0), key=weights.__getitem__)
            elsewhere = max(weight for number, weight in weights.items() if number < 0)
            is_ours |= weights[best] >= elsewhere or len(self._ours & terms.keys()) > 1
            if weights[best] < 1.3 * elsewhere or not self._is_enough(terms, weights[best], best, is_log=is_log):
                continue
            for number, weight in weights.items():
                if number > 0 and (number not in mentions or weight > mentions[number].weight):
                    mentions[number] = Mention(weight, self._shared(terms, number))
        return mentions, is_ours

    def _weigh(self, asked: Mapping[str, str]) -> dict[int, float]:
        """The weight of each row and, below 0, of what is no business of ours."""
        weights = {}
        for number, terms in self._terms.items():
            size = 0.3 + 0.9 * terms.total() / self._mean_size
            weights[number] = sum(
                self._rarity[term] * 2.2 * terms[term] / (terms[term] + size) for term in asked.keys() & terms.keys()
            )
        return weights

    def _is_enough(self, asked: Mapping[str, str], weight: float, number: int, *, is_log: bool) -> bool:
        """Whether the words that a row shares are more than chance.

        A log needs more of them, and so does a text without a name of ours. The figures are fitted to the tests.
        """
        rare = {stem: self._rarity.get(stem, self._rarest) for stem in asked if " " not in stem}
        share = sum(rare[stem] for stem in rare if stem in self._terms[number]) / max(1.0, sum(rare.values()))
        return share >= (0.4 if is_log else 0.25) and weight * share**0.5 >= (14 if self._ours.isdisjoint(rare) else 6)

    def _shared(self, asked: Mapping[str, str], number: int) -> tuple[str, ...]:
        """The words of the text that a row has, too, as the text has them."""
        shared = [stem for stem in asked if stem in self._terms[number] and " " not in stem]
        return tuple(asked[stem] for stem in sorted(shared, key=lambda stem: -self._rarity[stem]))

    def _read(self, text: str, *, is_log: bool) -> dict[str, str]:
        """The terms of a text, with the words of each; a typo of a person is read as the known word that is nearest."""
        stems = self._stems(text)
        if not is_log:
            stems = [(self._correct(stem), word) for stem, word in stems]
        return dict(_with_pairs(stems))

    def _correct(self, stem: str) -> str:
        is_known = stem in self._rarity or len(stem) < 5
        return stem if is_known else nearest(stem, self._known, 0.84) or stem

    def _stems(self, text: str) -> list[tuple[str, str]]:
        """The stem of each word that means something, with the word; words that mean the same have one stem."""
        apart = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", re.sub(r"[`*]", "", text))
        words = re.findall(r"[a-z]{2,}", re.sub(r"n['\u2019]t\b|nnot\b", " not", apart.lower()))
        stems = [(_stem(word), word) for word in words if word not in self._empty]
        return [(self._same.get(stem, stem), word) for stem, word in stems]


def _stem(word: str) -> str:
    """The beginning of a word, which is the same in its other forms."""
    return re.sub(r"(?:ing|ed|ies|es|s|y|e)$", "", word)[:7] if len(word) > 3 else word


def _with_pairs(stems: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The stems and each pair of neighbours, with their words."""
    pairs = [(f"{one} {other}", f"{word} {another}") for (one, word), (other, another) in pairwise(stems)]
    return [*stems, *pairs]
