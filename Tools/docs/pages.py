"""The project's Markdown pages: their blocks of code, headings and links."""

import glob
import os
import re

root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Problem(Exception):
    pass


def paths(*patterns):
    """The files of the repository that match, by their paths from the root."""
    found = []
    for pattern in patterns:
        found += glob.glob(os.path.join(root, pattern), recursive=True)
    return sorted(os.path.relpath(path, root) for path in found)


def articles():
    return paths("Sources/*/*.docc/**/*.md")


def specifications():
    return paths("Specs/**/*.md")


def text(path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


class Block:
    """A fenced block: its language, the comment line above it, and its lines, each with its number in the page."""

    def __init__(self, page, line, language, mark):
        self.page, self.line, self.language, self.mark = page, line, language, mark
        self.lines = []

    def __repr__(self):
        return f"{self.page}:{self.line}"


class Page:
    """A page, read from its text: `blocks` of code and `prose`, its other lines as (number, text)."""

    def __init__(self, path, content=None):
        self.path, self.blocks, self.prose = path, [], []
        block = fence = None
        above = ""
        for number, line in enumerate((text(path) if content is None else content).split("\n"), 1):
            opening = re.match(r"( *)(```+|~~~+) *([\w+-]*)", line)
            if block is not None:
                if re.match(rf" *{fence[1]}{fence[1][0]}*\s*$", line):
                    self.blocks.append(block)
                    block, above = None, ""
                else:
                    block.lines.append(line[min(len(fence[0]), len(line) - len(line.lstrip(" "))):])
            elif opening:
                comment = re.fullmatch(r"\s*<!--\s*(.*?)\s*-->\s*", above)
                block, fence = Block(path, number, opening[3], comment and comment[1]), (opening[1], opening[2])
            else:
                self.prose.append((number, line))
                above = line
        if block is not None:
            raise Problem(f"{path}:{block.line}: this block has no end")

    def headings(self):
        """The anchors that a web view of the repository makes of the headings."""
        found, counts = set(), {}
        for _, line in self.prose:
            heading = re.match(r" {0,3}#{1,6}\s+(.*?)\s*#*\s*$", line)
            if heading:
                words = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", heading[1]).replace("`", "").lower()
                anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
                again = counts.get(anchor, 0)
                counts[anchor] = again + 1
                found.add(f"{anchor}-{again}" if again else anchor)
            found.update(re.findall(r'<a (?:id|name)="([^"]+)"', line))
        return found

    def links(self):
        """The targets of the links, with their line numbers; those in code voice are none."""
        content = re.sub(r"`+[^`]*`+", lambda code: re.sub(r"[^\n]", " ", code[0]), "\n".join(self._numbered()))
        for link in re.finditer(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|^ {0,3}\[[^\]]+\]:\s*(\S+)", content, re.M):
            yield content.count("\n", 0, link.start(1 if link[1] else 2)) + 1, link[1] or link[2]

    def code_voice(self):
        """What is in single backticks, with its line number."""
        for match in re.finditer(r"(?<!`)`([^`]+)`(?!`)", "\n".join(self._numbered())):
            yield match.string.count("\n", 0, match.start()) + 1, " ".join(match[1].split())

    def _numbered(self):
        """The prose with an empty line for each line of a block, so that lines keep their numbers."""
        lines = dict(self.prose)
        return [lines.get(number, "") for number in range(1, max(lines, default=0) + 1)]
