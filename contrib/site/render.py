#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders Documentation.docc, and the Markdown that it links to, as static pages: README.md.

usage: contrib/site/render.py DIRECTORY
"""
from __future__ import annotations

import html
import os
import re
import shutil
import sys
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

import pygments
from markdown_it import MarkdownIt
from markdown_it.token import Token
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.token import Name, Punctuation, Text

ROOT = Path(__file__).resolve().parent.parent.parent
BUNDLE = "Sources/vedette/Documentation.docc"
START = f"{BUNDLE}/vedette.md"
ICON = "contrib/icons/hicolor/scalable/apps/vedette.svg"
# Below it are examples to copy; files elsewhere belong to the source code, and a link to one becomes plain text.
EXAMPLES = "rules"
PICTURES = (".svg", ".png", ".gif", ".jpg", ".webp")
# Marks a folder as written by this program, which may then replace it.
GENERATOR = '<meta name="generator" content="contrib/docs">'


class Problem(Exception):
    pass


def slug(title: str) -> str:
    """Returns the anchor of a heading, as GitHub and the test of links in DocumentationTests make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def colour(code: str, language: str, _: str) -> str:
    if not language:
        return html.escape(code)
    tokens = list(get_lexer_by_name(language).get_tokens(code))
    for index, (kind, _) in enumerate(tokens[:-1]):
        # Within braces the lexer of YAML tells no key from a value.
        if kind in Name.Variable and language == "yaml":
            tokens[index] = (Name.Tag if tokens[index + 1] == (Punctuation, ":") else Text, tokens[index][1])
    return pygments.format(tokens, HtmlFormatter(nowrap=True))


def output_of(source: str) -> str:
    """Returns where a page, a picture or an example of the tree is in the folder of pages."""
    path = PurePosixPath(source)
    if path.suffix in PICTURES:
        return f"pictures/{path.name}" if str(path.parent) == BUNDLE else source
    if (ROOT / source).is_dir():
        return f"{source}/index.html"
    if path.suffix != ".md":
        # A browser shows a text, and offers a file of any other kind for download.
        return f"{source}.txt"
    if source == START:
        return "index.html"
    return f"{path.stem}.html" if str(path.parent) == BUNDLE else str(path.with_suffix(".html"))


class Page:
    """A page of Markdown, read once for its titles and links, and rendered later."""

    def __init__(self, source: str, text: str | None = None) -> None:
        self.source = source
        self.output = output_of(source)
        self.parser = MarkdownIt("commonmark", {"highlight": colour}).enable("table")
        text = (ROOT / source).read_text() if text is None else text
        # A directive of DocC, such as @Metadata, with its block: it tells DocC what a page is, and people nothing.
        self.tokens = self.parser.parse(re.sub(r"^@\w+[^\n{]*\{\n.*?^\}\n", "", text, flags=re.S | re.M))
        self.terms: list[tuple[str, str, str]] = []
        self.headings: list[tuple[int, str, str]] = []
        self.title = ""
        self.abstract = ""
        self.number_headings()
        self.mend_tables()

    @staticmethod
    def plain(token: Token) -> str:
        parts = (" " if t.type == "softbreak" else t.content for t in token.children or [] if t.type != "html_inline")
        return "".join(parts)

    def number_headings(self) -> None:
        used: set[str] = set()
        for index, token in enumerate(self.tokens):
            if token.type == "heading_open":
                title = self.plain(self.tokens[index + 1])
                anchor = base = slug(title)
                number = 0
                while anchor in used:
                    number += 1
                    anchor = f"{base}-{number}"
                used.add(anchor)
                token.attrSet("id", anchor)
                self.headings.append((int(token.tag[1]), anchor, title))
                if token.tag == "h1":
                    self.title = self.title or title
            elif token.type == "paragraph_open" and token.level == 0 and self.title and not self.abstract:
                self.abstract = self.plain(self.tokens[index + 1])
                token.attrSet("class", "abstract")
        if [level for level, _, _ in self.headings].count(1) != 1:
            raise Problem(f"{self.source}: a page has one heading of level 1")

    def mend_tables(self) -> None:
        """Makes a heading of each row's first cell where the columns have none, gives each cell the heading of its column for narrow
        windows, and a row about a key an anchor for the index."""
        used = {anchor for _, anchor, _ in self.headings}
        section, is_bare, dropped, columns, column = self.title, False, set(), [], 0
        for index, token in enumerate(self.tokens):
            following = self.tokens[index + 1 : index + 4]
            if token.type == "heading_open":
                section = self.plain(following[0])
            elif token.type == "table_open":
                end = next(i for i in range(index, len(self.tokens)) if self.tokens[i].type == "thead_close")
                columns = [self.plain(t) for t in self.tokens[index:end] if t.type == "inline"]
                is_bare = not any(columns)
                dropped |= set(range(index + 1, end + 1)) if is_bare else set()
                token.meta = {"label": section}
            elif token.type == "th_open" and not following[0].content:
                token.tag = following[1].tag = "td"
            elif token.type == "tr_open" and following[0].type == "td_open":
                column = 0
                self.mend_row(token, following, section, is_bare, used)
            elif token.type == "td_open":
                if column > 0 and columns[column] and following[0].content:
                    token.attrSet("data-column", columns[column])
                column += 1
        self.tokens = [t for i, t in enumerate(self.tokens) if i not in dropped]

    def mend_row(self, row: Token, cell: list[Token], section: str, is_bare: bool, used: set[str]) -> None:
        opening, inline, closing = cell
        if is_bare and inline.content:
            opening.tag = closing.tag = "th"
            opening.attrSet("scope", "row")
        codes = [t.content for t in inline.children or [] if t.type == "code_inline"]
        if not codes or inline.children[0].type != "code_inline":
            return
        anchor = base = "row-" + (slug(codes[0]) or "key")
        number = 1
        while anchor in used:
            number += 1
            anchor = f"{base}-{number}"
        used.add(anchor)
        row.attrSet("id", anchor)
        self.terms += [(code, section, anchor) for code in codes if re.match(r"[-/]*[A-Za-z]", code)]

    def links(self) -> list[tuple[Token, str, str]]:
        """Returns what the page links to: the token, its attribute, and the address."""
        found = []
        for token in self.tokens:
            for child in token.children or []:
                name = {"link_open": "href", "image": "src"}.get(child.type)
                if name:
                    found.append((child, name, str(child.attrGet(name))))
        return found


class Site:
    def __init__(self) -> None:
        self.pages: dict[str, Page] = {}
        self.files: set[str] = set()
        # The sections of the navigation, and the words that link to each page.
        self.sections: list[tuple[str, list[str]]] = []
        self.labels: dict[str, str] = {}

    def read(self) -> None:
        """Reads the pages of the bundle, and the Markdown that they link to."""
        waiting = sorted(str(p.relative_to(ROOT)) for p in (ROOT / BUNDLE).glob("*.md"))
        while waiting:
            source = waiting.pop(0)
            if source in self.pages:
                continue
            page = Page(source, self.listing(source) if (ROOT / source).is_dir() else None)
            self.pages[source] = page
            for _, _, address in page.links():
                target = self.target(page, address)
                if target and (target.endswith(".md") or (ROOT / target).is_dir()):
                    waiting.append(target)
                elif target:
                    self.files |= {target, self.dark(target) or target}
            for picture in re.findall(r'(?:src|srcset)="([^"]+)"', self.raw(page)):
                self.files.add(self.path(page, picture))
        self.order()

    @staticmethod
    def raw(page: Page) -> str:
        """Returns the HTML that is written into a page as such: DocC and GitHub both take pictures for light and dark this way."""
        blocks = [t.content for t in page.tokens if t.type == "html_block"]
        return "".join(blocks + [c.content for t in page.tokens for c in t.children or [] if c.type == "html_inline"])

    @staticmethod
    def dark(picture: str) -> str | None:
        """Returns the file of a picture for a dark page, as DocC names it: page~dark.png beside page.png."""
        stem, suffix = os.path.splitext(picture)
        dark = f"{stem}~dark{suffix}"
        return dark if suffix in PICTURES and (ROOT / dark).exists() else None

    @staticmethod
    def listing(folder: str) -> str:
        names = sorted(p.name for p in (ROOT / folder).iterdir() if p.is_file())
        return f"# Files of {folder}\n\nExamples to copy.\n\n" + "".join(f"- [{name}]({name})\n" for name in names)

    @staticmethod
    def path(page: Page, address: str) -> str:
        """Returns the file of the tree that a relative address of a page names."""
        folder = page.source if (ROOT / page.source).is_dir() else os.path.dirname(page.source)
        path = os.path.normpath(os.path.join(folder, unquote(urlsplit(address).path)))
        if path.startswith("..") or not (ROOT / path).exists():
            raise Problem(f"{page.source}: there is no file {address}")
        return path

    def target(self, page: Page, address: str) -> str | None:
        """Returns the page, picture or example that a link leads to; None where it leads elsewhere, or to the source code."""
        parts = urlsplit(address)
        if parts.scheme or parts.netloc or not parts.path:
            return None
        path = self.path(page, address)
        is_shown = path.endswith((".md", *PICTURES)) or path == "LICENSE" or path.split("/")[0] == EXAMPLES
        return path if is_shown else None

    def place(self, source: str) -> str:
        return self.pages[source].output if source in self.pages else output_of(source)

    def order(self) -> None:
        """Makes the navigation of the headings and lists of the first page, and fails where that leaves a page out."""
        start, listed = self.pages[START], {START}
        for index, token in enumerate(start.tokens):
            if token.type == "heading_open" and token.tag == "h2":
                self.sections.append((start.plain(start.tokens[index + 1]), []))
            for child, words in zip(token.children or [], (token.children or [])[1:]):
                target = self.target(start, str(child.attrGet("href"))) if child.type == "link_open" else None
                if target in self.pages and target not in listed and self.sections:
                    listed.add(target)
                    self.labels[target] = words.content
                    self.sections[-1][1].append(target)
        missing = [s for s in self.pages if s.startswith(BUNDLE) and s not in listed]
        if missing:
            raise Problem(f"{START} links to no {', '.join(missing)}")

    def localise(self, page: Page) -> None:
        """Makes the links of a page lead to other pages of the folder; a link to the source code becomes plain text."""
        for token, name, address in page.links():
            parts = urlsplit(address)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            target = self.target(page, address)
            if target is None:
                token.type, token.tag = "plain_open", "span"
                continue
            token.attrSet(name, relative(page.output, self.place(target)) + (f"#{parts.fragment}" if parts.fragment else ""))
            dark = self.dark(target) if token.type == "image" else None
            token.meta = {"dark": relative(page.output, self.place(dark))} if dark else {}
        for token in [t for t in page.tokens if t.type == "html_block"] + [c for t in page.tokens for c in t.children or []]:
            if token.type in ("html_block", "html_inline"):
                token.content = re.sub(
                    r'(src|srcset)="([^"]+)"',
                    lambda m: f'{m[1]}="{relative(page.output, self.place(self.path(page, m[2])))}"',
                    token.content,
                )


def relative(page: str, target: str) -> str:
    return os.path.relpath(target, os.path.dirname(page) or ".")


def body(page: Page) -> str:
    """Renders the tokens of a page, its list of sections before the first of them."""
    rules = page.parser.renderer.rules
    stack: list[str] = []

    def table_open(tokens, i, *_):
        label = html.escape(f"Table: {tokens[i].meta['label']}", quote=True)
        return f'<div class="table" role="group" aria-label="{label}" tabindex="0">\n<table>\n'

    def heading_close(tokens, i, *_):
        opening = next(t for t in reversed(tokens[:i]) if t.type == "heading_open")
        title = html.escape(page.plain(tokens[i - 1]), quote=True)
        anchor = f' <a class="anchor" href="#{opening.attrGet("id")}" aria-label="Link to: {title}">#</a>'
        return f"{anchor if opening.tag != 'h1' else ''}</{opening.tag}>\n"

    def fence(tokens, i, options, *_):
        code = options.highlight(tokens[i].content, tokens[i].info.strip(), "")
        return f'<pre tabindex="0"><code>{code}</code></pre>\n'

    def span(tokens, i, *_):
        stack.append("span" if tokens[i].type == "plain_open" else "a")
        return "<span>" if stack[-1] == "span" else page.parser.renderer.renderToken(tokens, i, page.parser.options, {})

    default_image = rules["image"]

    def image(tokens, i, options, env):
        picture = default_image(tokens, i, options, env)
        dark = tokens[i].meta.get("dark")
        source = f'<source media="(prefers-color-scheme: dark)" srcset="{html.escape(dark or "", quote=True)}">'
        return f"<picture>{source}{picture}</picture>" if dark else picture

    rules.update({
        "image": image,
        "table_open": table_open,
        "table_close": lambda *_: "</table>\n</div>\n",
        "heading_close": heading_close,
        "fence": fence,
        "code_block": fence,
        "link_open": span,
        "plain_open": span,
        "link_close": lambda *_: f"</{stack.pop()}>",
    })
    text = page.parser.renderer.render(page.tokens, page.parser.options, {})
    sections = [(anchor, title) for level, anchor, title in page.headings if level == 2]
    if len(sections) < 3:
        return text
    items = "".join(f'<li><a href="#{anchor}">{html.escape(title)}</a></li>' for anchor, title in sections)
    contents = f'<details class="contents"><summary>On this page</summary><ul>{items}</ul></details>\n'
    before, heading, after = text.partition("<h2")
    return before + contents + heading + after


def frame(site: Site, page_output: str, title: str, abstract: str, content: str, source: str = "") -> str:
    """Returns the whole document around a page's content."""
    to = lambda target: html.escape(relative(page_output, target), quote=True)
    here = lambda is_here: ' aria-current="page"' if is_here else ""
    ordered = [s for _, sources in site.sections for s in sources]
    sections = ""
    for name, sources in site.sections:
        items = "".join(
            f'<li><a href="{to(site.place(s))}"{here(s == source)}>{html.escape(site.labels[s])}</a></li>\n' for s in sources
        )
        sections += f"<h2>{html.escape(name)}</h2>\n<ul>\n{items}</ul>\n"
    neighbours = ""
    if source in ordered:
        place = ordered.index(source)
        for rel, number, form in (("prev", place - 1, "← {}"), ("next", place + 1, "{} →")):
            if 0 <= number < len(ordered):
                words = html.escape(form.format(site.labels[ordered[number]]))
                neighbours += f'<a rel="{rel}" href="{to(site.place(ordered[number]))}">{words}</a>\n'
        neighbours = f'<nav class="neighbours" aria-label="Previous and next page">\n{neighbours}</nav>\n'
    name = "Vedette" if title == "Vedette" else f"{title} · Vedette"
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="description" content="{html.escape(abstract, quote=True)}">
{GENERATOR}
<title>{html.escape(name)}</title>
<link rel="icon" href="{to('vedette.svg')}">
<link rel="stylesheet" href="{to('style.css')}">
</head>
<body>
<a class="skip" href="#site-content">Skip to the content</a>
<header>
<a class="name" href="{to('index.html')}"><img src="{to('vedette.svg')}" alt="" width="22" height="22">Vedette</a>
<a href="{to('terms.html')}"{here(page_output == 'terms.html')}>Index of keys</a>
<a class="narrow" href="#site-pages">All pages</a>
</header>
<div class="columns">
<main id="site-content">
{content}{neighbours}</main>
<nav id="site-pages" aria-label="All pages">
{sections}</nav>
</div>
<footer>Vedette {version()}</footer>
</body>
</html>
"""


def version() -> str:
    text = (ROOT / "Sources/vedette/App/ProgramVersion.swift").read_text()
    return re.search(r'number = "([^"]+)"', text)[1]


def terms(site: Site) -> str:
    """Returns the content of the index: each key, option, command and name that a table explains, and where."""
    places: dict[str, list[tuple[Page, str, str]]] = {}
    for page in (site.pages[s] for _, sources in site.sections for s in sources if s.startswith(BUNDLE)):
        for term, section, anchor in page.terms:
            places.setdefault(term, []).append((page, section, anchor))
    letters: dict[str, list[str]] = {}
    for term in sorted(places, key=lambda t: (re.sub(r"\W", "", t).lower(), t)):
        links = []
        for page, section, anchor in places[term]:
            is_clear = [p for p, _, _ in places[term]].count(page) == 1 and section in (page.title, "Options")
            words = site.labels[page.source] + ("" if is_clear else f": {section}")
            links.append(f'<a href="{page.output}#{anchor}">{html.escape(words)}</a>')
        letter = re.search("[A-Za-z]", term)[0].upper()
        letters.setdefault(letter, []).append(f"<dt><code>{html.escape(term)}</code></dt><dd>{', '.join(links)}</dd>\n")
    order = sorted(letters)
    jumps = " ".join(f'<a href="#letter-{x}">{x}</a>' for x in order)
    content = (
        "<h1>Index of keys</h1>\n"
        '<p class="abstract">Every key, option, command, metric and name that a table of these pages explains.</p>\n'
        f'<p class="letters">{jumps}</p>\n'
    )
    for letter in order:
        content += f'<h2 id="letter-{letter}">{letter}</h2>\n<dl>\n{"".join(letters[letter])}</dl>\n'
    return content


def write(site: Site, folder: Path) -> int:
    if folder.exists() and any(folder.iterdir()):
        start = folder / "index.html"
        if not start.is_file() or GENERATOR not in start.read_text():
            raise Problem(f"{folder} has files that contrib/docs did not write: name another directory")
        shutil.rmtree(folder)
    outputs: dict[str, str] = {}
    for page in site.pages.values():
        site.localise(page)
        # The README has the same heading as the first page.
        title = page.title if page.title != "Vedette" or page.source == START else site.labels.get(page.source, page.source)
        outputs[page.output] = frame(site, page.output, title, page.abstract, body(page), page.source)
    outputs["terms.html"] = frame(site, "terms.html", "Index of keys", "Every key, and where it is explained.", terms(site))
    outputs["style.css"] = (Path(__file__).parent / "style.css").read_text()
    for name, text in sorted(outputs.items()):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    shutil.copyfile(ROOT / ICON, folder / "vedette.svg")
    for source in sorted(site.files):
        (folder / output_of(source)).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / source, folder / output_of(source))
    return len(outputs) - 1


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    site = Site()
    try:
        site.read()
        count = write(site, Path(sys.argv[1]))
    except Problem as problem:
        print(problem, file=sys.stderr)
        sys.exit(65)
    print(f"{count} pages; open {Path(sys.argv[1]).resolve() / 'index.html'}")


if __name__ == "__main__":
    main()
