"""Help pages of R as Markdown: the part of Rd that r/man uses. What is not known here is an error."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

#: Sections that are shown, with their headings, in this order.
SECTIONS = {
    "description": "",
    "usage": "Usage",
    "arguments": "Arguments",
    "format": "Format",
    "details": "Details",
    "value": "Value",
    "source": "Source",
    "references": "References",
    "seealso": "See also",
    "examples": "Examples",
}
#: Sections of R code, which are not text.
CODE = ("usage", "examples")
#: A link: the topic, if the text is not it, and the text.
LINK = re.compile(r"\\link(?:\[(?:=|\w+:)?([^]]*)\])?\{([^}]*)\}")
#: Macros that leave nothing, and those whose argument is code, emphasised or as it stands.
SILENT, AS_CODE, EMPHASISED, PLAIN = ("keyword", "docType", "name"), ("code", "command", "file", "option", "verb"), ("emph",), ("dQuote", "sQuote")


@dataclass
class Page:
    """One help page."""

    title: str = ""
    aliases: list[str] = field(default_factory=list)
    sections: dict[str, str] = field(default_factory=dict)

    def markdown(self, names: dict[str, str]) -> str:
        """The page; ``names`` has the page of each topic."""
        lines = [f"# {self.aliases[0]}", "", f"**{self.title}**", ""]
        for name, heading in SECTIONS.items():
            if name not in self.sections:
                continue
            body = self.sections[name]
            lines += [f"## {heading}", ""] if heading else []
            lines += ["```r", usage(body).strip("\n"), "```", ""] if name in CODE else [text(body, names).strip(), ""]
        return "\n".join(lines)


def argument(source: str, at: int) -> tuple[str, int]:
    """The text between the brace at this place and the one that closes it, and the place after that."""
    depth, i = 0, at
    while i < len(source):
        if source[i] == "\\":
            i += 2
            continue
        depth += {"{": 1, "}": -1}.get(source[i], 0)
        i += 1
        if depth == 0:
            return source[at + 1 : i - 1], i
    raise ValueError(f"a brace is not closed: {source[at : at + 40]!r}")


def page(source: str) -> Page:
    """A page from the text of its file."""
    made = Page()
    source = re.sub(r"(?<!\\)%.*", "", source)
    at = 0
    while match := re.compile(r"\\(\w+)\{").search(source, at):
        body, at = argument(source, match.end() - 1)
        name = match[1]
        if name == "title":
            made.title = text(body, {})
        elif name == "alias":
            made.aliases.append(body)
        elif name in SECTIONS:
            made.sections[name] = body
        elif name not in SILENT:
            raise ValueError(f"a section \\{name} is not known")
    return made


def usage(source: str) -> str:
    """R code: calls of methods by the name of the generic, and examples that are not for tests as the others."""
    while match := re.search(r"\\dont(?:test|run)\{", source):
        body, end = argument(source, match.end() - 1)
        source = source[: match.start()] + body.strip() + source[end:]
    source = re.sub(r"\\(?:method|S3method)\{(\w+)\}\{[\w.]+\}", r"\1", source)
    return plain(source.replace("\\dots", "..."))


def plain(source: str) -> str:
    """What is escaped in Rd."""
    return re.sub(r"\\([%\\{}])", r"\1", source)


def text(source: str, names: dict[str, str]) -> str:
    """Text with macros as Markdown."""
    source = re.sub(r"(?m)^[ \t]+", "", source)  # indentation means nothing in Rd
    parts, at = [], 0
    for_code = lambda body: "`" + plain(LINK.sub(r"\2", body).replace("\\dots", "...")) + "`"  # noqa: E731
    while at < len(source):
        match = re.compile(r"\\(\w+)(\[[^]]*\])?|\\([%\\{}&])").match(source, at)
        if not match:
            character = source[at]
            parts.append("\\" + character if character in "*_<$" else character)
            at += 1
            continue
        at, name = match.end(), match[1]
        if name is None:
            parts.append(match[3])
        elif name == "dots":
            parts.append("...")
            at += 2 if source.startswith("{}", at) else 0
        elif name == "item" and source.startswith("{", at):
            term, at = argument(source, at)
            body, at = argument(source, at)
            term = term if "\\" in term else f"\\code{{{term}}}"
            inner = text(body, names).strip().replace("\n", "\n  ")
            parts.append(f"\n- {text(term, names)}: {inner}\n")
        elif name == "item":
            parts.append("\n- ")
        elif name in ("describe", "itemize"):
            body, at = argument(source, at)
            parts.append("\n" + text(body, names) + "\n")
        elif name in ("eqn", "deqn"):
            body, at = argument(source, at)
            if source.startswith("{", at):  # the same in plain text
                _, at = argument(source, at)
            parts.append(f"${body.strip()}$" if name == "eqn" else f"\n\n$$\n{body.strip()}\n$$\n\n")
        else:
            body, at = argument(source, at)
            link = LINK.fullmatch(source[match.start() : at] if name == "link" else body)
            if link and name in ("code", "link"):
                topic, label = link[1] or link[2], f"`{link[2]}`"
                parts.append(f"[{label}]({names[topic]}.md)" if topic in names else label)
            elif name in AS_CODE:
                parts.append(for_code(body))
            elif name in EMPHASISED:
                parts.append(f"*{text(body, names)}*")
            elif name in PLAIN:
                parts.append(f"“{text(body, names)}”")
            else:
                raise ValueError(f"a macro \\{name} is not known")
    return "".join(parts)
