#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a folder of pages that contrib/docs wrote: README.md.

usage: contrib/site/check.py DIRECTORY
"""
from __future__ import annotations

import os
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes whose file a browser fetches by itself, so that it must be in the folder.
FETCHED = ("src", "srcset", "data", "poster", "action")


class Page(HTMLParser):
    def __init__(self, path: Path) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[tuple[str, str, str]] = []
        self.tags: list[str] = []
        self.title = ""
        self.language = ""
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value or "")
            elif name in ("href", *FETCHED):
                self.links.append((tag, name, value or ""))
            elif tag == "html" and name == "lang":
                self.language = value or ""

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] == ["title"] and not self.title:
            self.title = data.strip()


def problems(folder: Path) -> list[str]:
    pages = {str(p.relative_to(folder)): Page(p) for p in sorted(folder.rglob("*.html"))}
    files = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    found, reached, titles = [], {"index.html"}, {}
    for name, page in pages.items():
        titles.setdefault(page.title, []).append(name)
        if page.tags.count("h1") != 1:
            found.append(f"{name}: {page.tags.count('h1')} headings of level 1")
        if not page.language:
            found.append(f"{name}: no language")
        if "script" in page.tags or "iframe" in page.tags:
            found.append(f"{name}: a script or a frame")
        found += [f"{name}: the id {i} occurs twice" for i in sorted(set(page.ids)) if page.ids.count(i) > 1]
        for tag, attribute, address in page.links:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc or address.startswith("/"):
                if attribute in FETCHED or tag != "a" or parts.scheme not in ("http", "https"):
                    found.append(f"{name}: {tag} has the address {address}, which is not in the folder")
                continue
            target = os.path.normpath(os.path.join(os.path.dirname(name), unquote(parts.path))) if parts.path else name
            if target not in files:
                found.append(f"{name}: no file for {address}")
                continue
            reached.add(target)
            if parts.fragment and (target not in pages or unquote(parts.fragment) not in pages[target].ids):
                found.append(f"{name}: no anchor for {address}")
    found += [f"{', '.join(names)}: the same title '{title}'" for title, names in titles.items() if len(names) > 1 or not title]
    return found + [f"{name}: no page links to it" for name in sorted(files - reached)]


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = Path(sys.argv[1])
    found = problems(folder)
    for problem in found:
        print(problem, file=sys.stderr)
    pages = list(folder.rglob("*.html"))
    if found or len(pages) < 40:
        sys.exit(f"{len(found)} problems in {len(pages)} pages")
    links = sum(len(Page(p).links) for p in pages)
    print(f"{len(pages)} pages, {links} links: each leads to a file and an anchor, and no page needs more than the folder")


if __name__ == "__main__":
    main()
