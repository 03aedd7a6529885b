"""Finds places in Swift source at which a small bug can be seeded, and draws some of them by a seed.

The scanner knows as much of Swift as it needs: comments, strings, brackets, conditions and the ends of statements.
It need not be right everywhere: an edit that does not compile is dropped (drawn.py).
"""

import collections
import random
import re

# What a drawn bug does. A draw takes as many of each as it can.
OPERATORS = {
    "always": "the condition always holds",
    "never": "the condition never holds",
    "boundary": "the comparison is off at its boundary",
    "number": "the number is off by one",
    "left-out": "the statement is left out",
    "swallowed": "the error is swallowed",
}

BOUNDARIES = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
OPENING, CLOSING = "([{", ")]}"
# A line that begins like this continues the line before, and a line that ends like this is continued.
CONTINUES = re.compile(r"[.?:]|&&|\|\||[-+*/%<>=!&|^]=?=?\s|else\b|catch\b|where\b|as\b|is\b|in\b")
CONTINUED = re.compile(r"(?:[-+*/%<>=&|^,.(\[]|\s[?:]|\breturn|\bthrow|\btry|\bawait|\belse|\bwhere)\s*$")
KEYWORDS = set(
    "actor associatedtype break case catch class continue convenience default defer deinit do else enum extension "
    "fallthrough fileprivate final for func get guard if import in indirect init inout internal is lazy let mutating "
    "nonisolated open operator override package precedencegroup private protocol public repeat required return set "
    "some static struct subscript switch throw throws typealias unowned var weak while yield consuming borrowing "
    "discard isolated any each".split())
CHOOSES = re.compile(r"\s\?\?\s|\s\?\s")
# A call that is there to stop the program.
CHECKS = re.compile(r"(?:precondition|assert|fatalError|preconditionFailure|assertionFailure)\b")
STATEMENT = re.compile(r"(?:try\s+|await\s+)*(?:_\s*=\s*)?(?P<name>[A-Za-z_$][\w$]*|\()")
ASSIGNMENT = re.compile(r"[^={]*?(?<![=!<>])(?:[-+*/%|&^]|&[-+*]|<<|>>)?=(?!=)\s")


class Site:
    """A place in a file, the text there, and the text of a bug."""

    def __init__(self, file, start, end, operator, original, mutated, shape):
        self.file = file
        self.start = start
        self.end = end
        self.operator = operator
        self.original = original
        self.mutated = mutated
        self.shape = shape

    def __repr__(self):
        return f"{self.file}@{self.start} {self.operator} {self.original!r} -> {self.mutated!r}"

    def overlaps(self, other):
        return self.file == other.file and self.start < other.end and other.start < self.end

    def edit(self, number):
        """Returns the text that has the bug, active if the number is."""
        return self.shape.format(
            active=f"mutant_active({number}) != 0", original=self.original, mutated=self.mutated)


CHOICE = "({active} ? ({mutated}) : ({original}))"
LEFT_OUT = "if !({active}) {{ {original} }}"
SWALLOWED = "if {active} {{ {mutated} }} else {{ {original} }}"


# The scanner


def mask(source):
    """Returns the source with blanks for comments and compile-time conditions and quotes for strings.

    It has the same length. Code in `#if` is masked, because it may be that of another system.
    """
    text = list(source)
    index, length = 0, len(source)

    def fill(start, end, character):
        for place in range(start, end):
            if text[place] != "\n" or character == '"':
                text[place] = character

    while index < length:
        if source.startswith("//", index):
            end = source.find("\n", index)
            end = length if end < 0 else end
            fill(index, end, " ")
        elif source.startswith("/*", index):
            end, depth = index + 2, 1
            while depth and end < length:
                step = {"/*": 1, "*/": -1}.get(source[end:end + 2], 0)
                depth, end = depth + step, end + (2 if step else 1)
            fill(index, end, " ")
        elif opening := re.match(r'(#*)("""|")', source[index:index + 12]):
            end = string_end(source, index + opening.end(), opening.group(1), opening.group(2))
            fill(index, end, '"')
        else:
            end = index + 1
        index = end
    return mask_conditional_code("".join(text))


def string_end(source, index, pounds, quote):
    """Returns the index behind the string whose content begins at `index`."""
    escape, close = "\\" + pounds, quote + pounds
    while index < len(source):
        if source.startswith(escape + "(", index):
            index, depth = index + len(escape) + 1, 1
            while depth and index < len(source):
                inner = re.match(r'(#*)("""|")', source[index:index + 12])
                if inner:
                    index = string_end(source, index + inner.end(), inner.group(1), inner.group(2))
                    continue
                depth += {"(": 1, ")": -1}.get(source[index], 0)
                index += 1
        elif source.startswith(escape, index):
            index += len(escape) + 1
        elif source.startswith(close, index):
            return index + len(close)
        else:
            index += 1
    return index


def mask_conditional_code(code):
    lines, depth = code.split("\n"), 0
    for number, line in enumerate(lines):
        word = line.strip()
        depth += word.startswith("#if")
        if depth:
            lines[number] = " " * len(line)
        depth -= word.startswith("#endif")
    return "\n".join(lines)


class Scanner:
    """One file: its text, its masked text, and its brackets."""

    def __init__(self, file, source):
        self.file = file
        self.source = source
        self.code = mask(source)
        self.sites = []
        # The bracket that closes each, and the innermost bracket around each line's first character.
        self.closing, self.around = {}, {}
        stack, starts_line = [], True
        for index, character in enumerate(self.code):
            if starts_line and not character.isspace():
                self.around[index] = tuple(stack)
                starts_line = False
            if character == "\n":
                starts_line = True
            elif character in OPENING:
                stack.append(index)
            elif character in CLOSING and stack:
                self.closing[stack.pop()] = index

    def scan(self):
        """Returns all sites of the file in order."""
        self.scan_conditions()
        self.scan_expressions()
        self.scan_numbers()
        self.scan_statements()
        unique = {(site.start, site.end, site.operator, site.mutated): site for site in self.sites}
        return [unique[key] for key in sorted(unique)]

    def add(self, start, end, operator, mutated, shape=CHOICE):
        if "\n\n" not in self.source[start:end]:
            self.sites.append(
                Site(self.file, start, end, operator, self.source[start:end], mutated, shape))

    def trim(self, start, end):
        while start < end and self.code[start].isspace():
            start += 1
        while end > start and self.code[end - 1].isspace():
            end -= 1
        return start, end

    def split(self, start, end, separator):
        """Returns the parts of a range between separators that are in no bracket."""
        parts, index, begin = [], start, start
        while index < end:
            found = separator.match(self.code, index, end)
            if found:
                parts.append((begin, index))
                begin = index = found.end()
            elif self.code[index] in OPENING:
                index = self.closing.get(index, end) + 1
            else:
                index += 1
        parts.append((begin, end))
        return [self.trim(*part) for part in parts]

    def find(self, start, pattern):
        """Returns the first index that matches outside brackets; `None` if the brackets around it end first."""
        index = start
        while index < len(self.code):
            if pattern.match(self.code, index):
                return index
            if self.code[index] in CLOSING:
                return None
            if self.code[index] in OPENING:
                index = self.closing.get(index, len(self.code)) + 1
            else:
                index += 1
        return None

    def expression_end(self, start):
        """Returns the end of the expression or statement that begins at `start`."""
        index = start
        while index < len(self.code):
            character = self.code[index]
            if character in CLOSING or character == ";":
                break
            if character in OPENING:
                index = self.closing.get(index, len(self.code)) + 1
                continue
            if character == "\n":
                following = self.code[index:].lstrip()
                if not CONTINUES.match(following) and not CONTINUED.search(self.code[start:index]):
                    break
            index += 1
        return self.trim(start, index)[1]

    # Conditions

    def scan_conditions(self):
        for found in re.finditer(r"(?<![.\w`])(if|guard|while)\b", self.code):
            word, start = found.group(1), found.end()
            before = self.code[:found.start()].rstrip()
            if word == "while" and before.endswith("}"):
                continue
            body = re.compile(r"else\b") if word == "guard" else re.compile(r"\{")
            end = self.find(start, body)
            if end is None:
                continue
            for part in self.split(start, end, re.compile(",")):
                self.add_condition(*part, may_always_hold=word != "while")
        for found in re.finditer(r"(?m)^\s*for\b[^\n{]*\bwhere\b", self.code):
            end = self.find(found.end(), re.compile(r"\{"))
            if end is not None:
                self.add_condition(*self.trim(found.end(), end))

    def add_condition(self, start, end, may_always_hold=True):
        """Adds the sites of a Boolean expression."""
        text = self.code[start:end]
        if not text or re.match(r"(?:let|var|case|_)\b|#|\(\s*let\b", text):
            return
        if may_always_hold:
            self.add(start, end, "always", "true")
        self.add(start, end, "never", "false")
        self.add_parts(start, end, may_always_hold)

    def add_parts(self, start, end, may_always_hold=True):
        """Adds the sites within a Boolean expression."""
        if len(self.split(start, end, CHOOSES)) > 1:
            return
        parts = self.split(start, end, re.compile(r"&&|\|\|"))
        for part in parts:
            if len(parts) > 1 and may_always_hold:
                self.add(*part, "always", "true")
            if len(parts) > 1:
                self.add(*part, "never", "false")
            self.add_comparison(*part)
            inner = self.trim(*part)[0]
            if self.code[inner:inner + 1] == "(" and self.closing.get(inner) == part[1] - 1:
                self.add_parts(*self.trim(inner + 1, part[1] - 1), may_always_hold)

    def add_comparison(self, start, end):
        operator = re.compile(r"\s(<=|>=|<|>)\s")
        parts = self.split(start, end, operator)
        if len(parts) != 2:
            return
        found = operator.search(self.code, parts[0][1], parts[1][0])
        left, right = (self.source[slice(*part)] for part in parts)
        self.add(start, end, "boundary", f"{left} {BOUNDARIES[found.group(1)]} {right}")

    def scan_expressions(self):
        """Adds what follows `return` or `=`, and the bodies of one expression, if they are Boolean."""
        for found in re.finditer(r"(?<![.\w`])return[ \n]+(?=\S)|(?<![=!<>])=\s+(?!=)", self.code):
            if self.code[found.start()] == "=" and not self.is_statement_line(found.start()):
                continue
            self.add_boolean(found.end(), self.expression_end(found.end()))
        for opening, closing in self.closing.items():
            if self.code[opening] != "{":
                continue
            start, end = self.trim(opening + 1, closing)
            parameters = re.compile(r"(?:\([^()\n]*\)|[\w, ]+)\s+in\s+").match(self.code, start, end)
            start = parameters.end() if parameters else start
            first = re.match(r"\w*", self.code[start:end]).group()
            if first not in KEYWORDS and self.expression_end(start) == end:
                self.add_boolean(start, end)

    def is_statement_line(self, index):
        line = self.code[self.code.rfind("\n", 0, index) + 1:index].strip()
        return re.match(r"(?:(?:let|var) )?[\w.]+(?:: \w+)? ?$", line) is not None

    def add_boolean(self, start, end):
        text = self.code[start:end]
        if ASSIGNMENT.match(text) or len(self.split(start, end, re.compile(","))) > 1:
            return
        if len(self.split(start, end, re.compile(r"\s\?\s"))) > 1:
            self.add_boolean(start, self.split(start, end, re.compile(r"\s\?\s"))[0][1])
            return
        compares = len(self.split(start, end, re.compile(r"&&|\|\||\s(?:==|!=|<|<=|>|>=)\s"))) > 1
        if compares or text.startswith("!"):
            self.add_condition(start, end)

    # Numbers

    def scan_numbers(self):
        number = re.compile(r"(?<![\w.$#\"])(?:0x[0-9A-Fa-f_]+|\d[\d_]*)(?![\w\"]|\.\d)")
        for found in number.finditer(self.code):
            line = self.code[self.code.rfind("\n", 0, found.start()) + 1:found.start()]
            if re.match(r"\s*(?:indirect )?case\b[^:]*$|\s*@|\s*#", line):
                continue
            value = int(found.group().replace("_", ""), 0)
            self.add(*found.span(), "number", str(value + 1))
            if value > 0:
                self.add(*found.span(), "number", str(value - 1))

    # Statements

    def scan_statements(self):
        for start, around in self.around.items():
            if not around or self.code[around[-1]] != "{":
                continue
            found = STATEMENT.match(self.code, start)
            if not found or found.group("name") in KEYWORDS or not self.begins_statement(start):
                continue
            end = self.expression_end(start)
            text = self.code[start:end]
            name = found.group("name")
            is_assignment = ASSIGNMENT.match(text) is not None
            if CHECKS.match(text) or not is_assignment and not text.endswith((")", "}")):
                continue
            if re.match(r"\w+:", text) or is_assignment and self.may_initialize(text, around):
                continue
            if not is_assignment and self.may_be_value(start, end, around[-1]):
                continue
            if name == "(" and not is_assignment:
                continue
            self.add(start, end, "left-out", "", LEFT_OUT)
            if not is_assignment and re.match(r"try\s", text):
                silent = "try?" + self.source[start + 3:end]
                self.add(start, end, "swallowed", f"_ = {silent}", SWALLOWED)

    def begins_statement(self, start):
        line = self.code[start:start + 8]
        if CONTINUES.match(line) and not re.match(r"\w", line):
            return False
        before = self.code[:start].rstrip()
        if before.endswith(":"):
            label = before[before.rfind("\n") + 1:].strip()
            return re.match(r"(?:case|default|@unknown)\b|[.]", label) is not None
        return not CONTINUED.search(before[-12:])

    def header(self, opening):
        """Returns the text before a brace, from the end of the statement before."""
        begin = max(self.code.rfind(mark, 0, opening) for mark in (";", "}", "{", "\n\n"))
        return self.code[begin + 1:opening]

    def may_initialize(self, text, around):
        """Returns whether an assignment may be the first of a constant or of a property."""
        for opening in around:
            if re.search(r"\binit\b[?]?\s*[(<]", self.header(opening)):
                return True
        target = re.match(r"(\w+)\s*=", text)
        return target is not None and re.search(
            rf"\b(?:let|var) {target.group(1)}\b\s*(?::[^=\n{{]*)?$", self.code, re.M) is not None

    def may_be_value(self, start, end, opening):
        """Returns whether a call is the only statement of a body that returns its value."""
        inner = self.trim(opening + 1, self.closing.get(opening, len(self.code)))
        closure = re.compile(r"[^\n]*\bin\n\s*").match(self.code, inner[0])
        first = closure.end() if closure else inner[0]
        if (first, inner[1]) != (start, end):
            return False
        header = self.header(opening)
        if closure or re.search(r"->(?!\s*(?:Void|\(\))\s)", header):
            return True
        return re.search(r"\b(?:func|if|else|guard|for|while|do|catch|defer|set|didSet)\b", header) is None


def scan(file, source):
    """Returns the sites of a Swift file."""
    return Scanner(file, source).scan()


def apply(source, numbered):
    """Returns the source with bugs, given as pairs of number and site, and the lines of each number."""
    parts, lines, place, line = [], {}, 0, 1
    for number, site in sorted(numbered, key=lambda pair: pair[1].start):
        assert source[site.start:site.end] == site.original, site
        before, edit = source[place:site.start], site.edit(number)
        line += before.count("\n")
        lines[number] = range(line, line + edit.count("\n") + 1)
        line += edit.count("\n")
        parts += [before, edit]
        place = site.end
    return "".join([*parts, source[place:]]), lines


# The draw


class Draw:
    """The sites in the order of a seed, spread over modules, operators and files.

    A module receives as many as its share of the sites. In a module each operator and each file is taken as
    rarely as possible.
    """

    def __init__(self, sites, seed):
        self.rest = list(sites)
        random.Random(seed).shuffle(self.rest)
        self.shares = collections.Counter(module_of(site.file) for site in sites)
        self.counts = collections.Counter()

    def next(self):
        """Returns the next site, which overlaps none before it; `None` if there is none."""
        best = min(self.rest, key=self.order, default=None)
        if best is not None:
            module = module_of(best.file)
            self.counts.update([module, (module, best.operator), best.file])
            self.rest = [site for site in self.rest if not site.overlaps(best)]
        return best

    def order(self, site):
        module = module_of(site.file)
        return (self.counts[module] / self.shares[module], self.counts[module, site.operator],
                self.counts[site.file])


def module_of(file):
    return file.split("/")[1]
