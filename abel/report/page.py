"""Documents of text, tables and figures, written as one self-contained HTML page or as Markdown."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import dataclass

from abel.charts import escape
from abel.render import characters

MATHML = "http://www.w3.org/1998/Math/MathML"
# Presentation elements only: none of these can carry a script, a link or foreign markup.
ELEMENTS = set(
    "math mrow mi mn mo mtext mspace ms mfrac msqrt mroot msub msup msubsup mover munder "
    "munderover mmultiscripts mprescripts mtable mtr mtd mstyle mpadded mphantom menclose mfenced"
    .split()
)  # fmt: skip
ATTRIBUTES = set("mathvariant stretchy open close separators linethickness form lspace".split())

CSS = """
:root { color-scheme: light dark; --ink: #1d1f23; --soft: #5c6370; --line: #d5d9e0; --paper: #fff;
  --tint: #f3f5f8; --link: #0b62a8 }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e6ea; --soft: #a2a9b4; --line: #3a3f48;
  --paper: #15171b; --tint: #1e2127; --link: #6cb6f5 } }
body { margin: 0 auto; padding: 1rem 1.25rem 4rem; max-width: 60rem; color: var(--ink);
  background: var(--paper); font: 16px/1.55 system-ui, sans-serif }
h1 { line-height: 1.2 } h2 { margin: 2.5rem 0 .5rem; border-top: 1px solid var(--line);
  padding-top: 1.25rem } h3 { margin: 1.5rem 0 .25rem }
a { color: var(--link) } nav ol { columns: 15rem; padding-left: 1.5rem }
.scroll { overflow-x: auto; margin: 1rem 0 } p, li { overflow-wrap: anywhere }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums }
th, td { padding: .3rem 1rem .3rem 0; text-align: left; vertical-align: top; white-space: nowrap;
  border-bottom: 1px solid var(--line) } th { color: var(--soft); font-weight: 600 }
td code { white-space: pre-wrap; display: block; min-width: 14rem; max-width: 34rem }
code { font-size: .9em; overflow-wrap: anywhere } .note { color: var(--soft); font-size: .85rem }
figure { margin: 1.25rem 0; overflow-x: auto } svg { color: var(--ink); display: block;
  width: 100%; min-width: 26rem; max-width: 45rem }
details { margin: .75rem 0 } summary { cursor: pointer; color: var(--link) }
.trace { background: var(--tint); border-radius: 6px; padding: .75rem 1rem .75rem 2.5rem }
.trace li > span { display: block; color: var(--soft); font-size: .9rem }
.trace .then { list-style: none; counter-increment: list-item 0 }
.trace li { padding-bottom: .4rem } .trace div { padding: .2rem 0; line-height: 2.2 }
div > math, p > math { font-size: 1.1em }
"""
# The browser itself refuses whatever is not in the file.
POLICY = "default-src 'none'; style-src 'unsafe-inline'"


class Code(str):
    """Text to be set in a fixed-width font: equations, commands."""


@dataclass(frozen=True)
class Table:
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Block:
    """What looks different on the page and in Markdown; figures stand on the page only."""

    html: str
    markdown: str = ""


Part = str | Table | Block


def figure(svg: str) -> Block:
    return Block(f"<figure>{svg}</figure>")


def folded(title: str, table: Table) -> Block:
    """A long table that opens on a click; in Markdown it stands open."""
    page = f"<details><summary>{escape(title)}</summary>{to_html(table)}</details>"
    return Block(page, f"{plain(title)}:\n\n{to_markdown(table)}")


def formula(mathml: object, text: str) -> str:
    """MathML if it is nothing but that, else the text. Several elements stand in a row, between
    which a browser may break the line.
    """
    try:
        return " ".join(map(presented, mathml if isinstance(mathml, list) and mathml else [mathml]))
    except (ET.ParseError, ValueError, RecursionError):
        return f"<code>{escape(text)}</code>"


def presented(mathml: object) -> str:
    """An element of MathML without whatever could act; ValueError if it is none."""
    if not isinstance(mathml, str) or not mathml.strip() or "<!" in mathml or "<?" in mathml:
        raise ValueError("not MathML")
    root = ET.fromstring(f"<math>{characters(mathml)}</math>")
    if len(root) == 1 and root[0].tag.removeprefix(f"{{{MATHML}}}") == "math":
        root = root[0]
    for element in root.iter():
        element.tag = element.tag.removeprefix(f"{{{MATHML}}}")
        if element.tag not in ELEMENTS:
            raise ValueError(f"<{element.tag}> is not MathML")
        element.attrib = {k: v for k, v in element.attrib.items() if k in ATTRIBUTES}
    root.attrib = {"xmlns": MATHML, "displaystyle": "true"}
    return ET.tostring(root, encoding="unicode")


def sentence(parts: object, text: str) -> str:
    """Words and formulas in turn; the text if there are no such parts."""
    if not isinstance(parts, list) or not all(is_part(part) for part in parts):
        return escape(text)
    return "".join(formula(mathml, words) if mathml else escape(words) for words, mathml in parts)


def is_part(part: object) -> bool:
    return isinstance(part, list | tuple) and len(part) == 2 and isinstance(part[0], str)


def plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    if isinstance(text, Code):
        code = " ".join(text.replace("`", "'").split()).replace("|", "\\|")
        return f"`{code}`" if code else ""
    return re.sub(r"([\\`*<>|]|(?<=\])[(\[])", r"\\\1", " ".join(text.split()))


def to_html(part: Part) -> str:
    if isinstance(part, Block):
        return part.html
    if isinstance(part, str):
        return f"<p>{escape(part)}</p>"

    def cell(text: str) -> str:
        return f"<code>{escape(text)}</code>" if isinstance(text, Code) else escape(text)

    head = "".join(f"<th>{escape(name)}</th>" for name in part.columns)
    rows = ("".join(f"<td>{cell(text)}</td>" for text in row) for row in part.rows)
    body = "\n".join(f"<tr>{row}</tr>" for row in rows)
    table = f"<table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table>"
    return f'<div class="scroll" tabindex="0">{table}</div>'


def to_markdown(part: Part) -> str:
    if isinstance(part, Block):
        return part.markdown
    if isinstance(part, str):
        return plain(part)
    rows = [part.columns, ["---"] * len(part.columns), *part.rows]
    rows = [[plain(text) for text in row] for row in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def html_page(
    title: str, intro: Sequence[Part], sections: dict[str, tuple[str, list[Part]]]
) -> str:
    """A whole page; sections by the name their link carries, with a heading and parts."""
    links = "".join(f'<li><a href="#{k}">{escape(name)}</a>' for k, (name, _) in sections.items())
    body = [f"<h1>{escape(title)}</h1>", *map(to_html, intro), f"<nav><ol>{links}</ol></nav>"]
    for key, (heading, parts) in sections.items():
        body += [f'<h2 id="{escape(key)}">{escape(heading)}</h2>', *map(to_html, parts)]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}'
        '</title>\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f"<style>{CSS}</style></head>\n<body>\n" + "\n".join(body) + "\n</body></html>\n"
    )


def markdown_page(
    title: str, intro: Sequence[Part], sections: dict[str, tuple[str, list[Part]]]
) -> str:
    parts = [f"# {plain(title)}", *map(to_markdown, intro)]
    for heading, inside in sections.values():
        parts += [f"## {plain(heading)}", *map(to_markdown, inside)]
    return "\n\n".join(part for part in parts if part) + "\n"
