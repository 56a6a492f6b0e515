"""The months, days and years that a question names, and whether a moment lies in them. Pure."""

import re
from dataclasses import dataclass
from datetime import datetime

_MONTHS = (
    "january|february|march|april|may|june|july|august|september|october|november|december",
    "januar|februar|märz|april|mai|juni|juli|august|september|oktober|november|dezember",
    "enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre",
    "janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre",
)
_NUMBER = {name: at + 1 for names in _MONTHS for at, name in enumerate(names.split("|"))}
# "may" alone is more often the verb: it is a month after "in" or beside a number.
_MONTH = re.compile(rf"\b({'|'.join(sorted(_NUMBER, key=len, reverse=True))})\b")
_MAY = re.compile(
    r"\b(?:in|of|since|until|by|last|this|next|early|late|mid)[ -]+may\b|\d(?:st|nd|rd|th)? may\b|\bmay,? \d"
)
_YEAR = re.compile(r"\b(19\d\d|20\d\d)(?=\b|年)")
_DAY = re.compile(r"\b(19\d\d|20\d\d)-(\d\d)-(\d\d)\b")
_CJK_MONTH = re.compile(r"(?<!\d)(1[0-2]|[1-9])月")


@dataclass(frozen=True, slots=True)
class Named:
    """What a question names; empty sets name nothing."""

    years: frozenset[int]
    months: frozenset[int]

    def __bool__(self) -> bool:
        return bool(self.years or self.months)

    def holds(self, moment: datetime) -> bool:
        """Whether `moment` lies in a named month and a named year, as far as they are named."""
        return (not self.years or moment.year in self.years) and (not self.months or moment.month in self.months)


def named(question: str) -> Named:
    """Months and years of `question`, in English, German, Spanish, French, Chinese and Japanese."""
    text = question[:2_000].casefold()
    months = {_NUMBER[found] for found in _MONTH.findall(text) if found != "may"}
    if _MAY.search(text):
        months.add(5)
    months |= {int(found) for found in _CJK_MONTH.findall(text)}
    years = {int(found) for found in _YEAR.findall(text)}
    for year, month, _ in _DAY.findall(text):
        years.add(int(year))
        if 1 <= int(month) <= 12:
            months.add(int(month))
    return Named(frozenset(years), frozenset(months))
