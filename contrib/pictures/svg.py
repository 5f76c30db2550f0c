# SPDX-License-Identifier: Apache-2.0
"""A terminal's screen, as `tmux capture-pane -e` prints it, as an SVG: its texts are texts, each cell has its place."""
from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape, quoteattr

CELL, LINE, MARGIN, SIZE = 8.4, 19, 18, 14
BACKGROUND, PLAIN = "#1d2026", "#d6d9df"
# The 16 colours of a terminal; the contrast of each but black with the background is 4.5 or more.
COLORS = ["#5a616e", "#f07178", "#98c379", "#e5c07b", "#74b0f4", "#d49ae0", "#5fc7d1", "#d6d9df",
          "#8b93a1", "#ff8b92", "#b5e890", "#ffd68a", "#94c6ff", "#e6b5f0", "#7fe0ea", "#ffffff"]
DIM = "#9aa1ad"
SEQUENCE = re.compile(r"\x1b(?:\[([0-9;:]*)m|\[[0-9;?]*[A-Za-ln-z]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()][A-Z0-9]|[\x0e\x0f])")


@dataclass(frozen=True)
class Style:
    color: str | None = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underlined: bool = False

    def after(self, codes: str) -> "Style":
        """The style after a sequence of SGR (ECMA-48, 8.3.117)."""
        style, rest = self, [int(code or 0) for code in codes.replace(":", ";").split(";")]
        while rest:
            code = rest.pop(0)
            if code == 0:
                style = Style()
            elif code in (1, 2, 3, 4):
                style = replace(style, **{("bold", "dim", "italic", "underlined")[code - 1]: True})
            elif code == 22:
                style = replace(style, bold=False, dim=False)
            elif code in (23, 24):
                style = replace(style, **{("italic", "underlined")[code - 23]: False})
            elif 30 <= code <= 37 or 90 <= code <= 97:
                style = replace(style, color=COLORS[code % 10 + (8 if code >= 90 else 0)])
            elif code == 38 and rest[:1] == [5]:
                style, rest = replace(style, color=indexed(rest[1])), rest[2:]
            elif code == 38 and rest[:1] == [2]:
                style, rest = replace(style, color="#%02x%02x%02x" % tuple(rest[1:4])), rest[4:]
            elif code in (39, 49):
                style = replace(style, color=None) if code == 39 else style
            else:
                raise ValueError("no picture of SGR %d" % code)
        return style

    @property
    def attributes(self) -> str:
        color = self.color or (DIM if self.dim else PLAIN)
        marks = "" if color == PLAIN else ' fill="%s"' % color
        marks += ' font-weight="bold"' if self.bold else ""
        marks += ' font-style="italic"' if self.italic else ""
        return marks + (' text-decoration="underline"' if self.underlined else "")


def indexed(number: int) -> str:
    """A colour of xterm's 256."""
    if number < 16:
        return COLORS[number]
    if number >= 232:
        return "#%02x%02x%02x" % ((8 + 10 * (number - 232),) * 3)
    levels = [0, 95, 135, 175, 215, 255]
    number -= 16
    return "#%02x%02x%02x" % (levels[number // 36], levels[number // 6 % 6], levels[number % 6])


def cells(text: str) -> int:
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def line(source: str, style: Style, y: float) -> tuple[str, Style]:
    """One line as an element, and the style with which the next one begins."""
    runs, column, at = [], 0, 0

    def add(text: str) -> None:
        nonlocal column
        # What stands apart by two spaces or more has its own place, whatever the width of the font's cells.
        for part in re.split(r"( {2,})", text):
            words = part.strip(" ")
            if words:
                start = column + len(part) - len(part.lstrip(" "))
                runs.append('<tspan x="%g" textLength="%g"%s>%s</tspan>' % (
                    MARGIN + start * CELL, cells(words) * CELL, style.attributes, escape(words)))
            column += cells(part)

    for found in SEQUENCE.finditer(source):
        add(source[at:found.start()])
        at = found.end()
        if found.group(1) is not None:
            style = style.after(found.group(1))
    add(source[at:])
    return ('<text y="%g">%s</text>\n' % (y, " ".join(runs)) if runs else ""), style


def drawing(screen: str, columns: int, title: str) -> str:
    y, style, parts = MARGIN, Style(), []
    # What the prompt waits for is no part of the picture.
    for source in screen.rstrip().removesuffix("\n$").rstrip().split("\n"):
        element, style = line(source, style, y + SIZE)
        parts.append(element)
        y += LINE
    width, height = columns * CELL + 2 * MARGIN, y + MARGIN - 4
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %g %g" width="%g" height="%g" role="img" aria-label=%s\n'
        ' font-family="ui-monospace, \'SF Mono\', Menlo, Consolas, \'DejaVu Sans Mono\', \'Liberation Mono\', monospace"'
        ' font-size="%d" fill="%s">\n<title>%s</title>\n<rect width="100%%" height="100%%" rx="8" fill="%s"/>\n%s</svg>\n'
    ) % (width, height, width, height, quoteattr(title), SIZE, PLAIN, escape(title), BACKGROUND, "".join(parts))
