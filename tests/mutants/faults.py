"""The faults that a C++ source can have, and the source with all of them in it (see fault.hpp).

A fault is a changed sign, bound, tie, constant or condition, or a statement that is gone. Sources are read as text, laid out as
clang-format leaves them: binary operators stand between spaces, brackets of templates do not.
"""

import bisect
import re

BINARY = {  # as it stands: its name in fault.hpp, what may stand there in its place
    "<": ("Less", ["<=", ">="]), ">": ("Greater", [">=", "<="]), "<=": ("LessEqual", ["<"]), ">=": ("GreaterEqual", [">"]),
    "==": ("Equal", ["!="]), "!=": ("NotEqual", ["=="]), "+": ("Plus", ["-"]), "-": ("Minus", ["+"]),
    "*": ("Times", ["/"]), "/": ("Over", ["*"]), "+=": ("PlusAssign", ["-="]), "-=": ("MinusAssign", ["+="]),
}
BINARY_OPERATOR = re.compile(r"(?<= )(<|>|<=|>=|==|!=|\+|-|\*|/|\+=|-=)(?=[ \n])")
LOGICAL = re.compile(r"(?<= )(&&|\|\|)(?=[ \n])")
NUMBER = re.compile(r"(?<=[ (\[{])(\d+(?:\.\d+)?)(?=[;,) \]}])")
TRUTH = re.compile(r"\b(true|false)\b")
EXTREME = re.compile(r"\bstd::(min|max)\b(?=[<(])")
NOT = re.compile(r"(?<=[ (])!(?=[\w(*])")
MINUS = re.compile(r"(?<=[ (])-(?=[\w(])")
INCREMENT = re.compile(r"\+\+(?=[\w(*])")
CONDITION = re.compile(r"\bif \(")
STATEMENT = re.compile(r"^ +(?=[a-z_][\w.>\-\[\]:]*(\(| [+*/-]?= |\+\+;)|\+\+|--)", re.M)
ONCE = re.compile(r"\bstatic const\b")
# Declarations, lines in which an operator is a type's, and what only saves time.
PASSED_OVER = re.compile(r"^\s*(#|template|using|static_assert|case |TUNEBAND_CHECK|namespace|constexpr std::string|requires"
                         r"|[\w.]+\.reserve\()")
OPENING, CLOSING = "([{", ")]}"


class Fault:
    """`plain`: the one replacement that plants it. `schema`: what it becomes among the others: (offset, length, text, rank).
    `once`: in what is initialised once, by the first test that comes there, and used by others."""

    def __init__(self, source, at, old, new, plain, schema):
        self.path, self.line, self.text = source.path, source.line_of(at), source.line_text(at).strip()
        self.old, self.new, self.plain, self.schema, self.nth = old, new, plain, schema, 1
        self.once = any(begin <= at < end for begin, end in source.initialised_once)

    @property
    def key(self):
        nth = "" if self.nth == 1 else f" (no. {self.nth})"
        return f"{self.path} | {self.text} | {self.old} -> {self.new}{nth}"

    def __str__(self):
        return f"{self.path}:{self.line}: " + self.key.removeprefix(f"{self.path} | ")


def without_texts(text):
    """The source with its texts and comments blanked, columns and lines kept."""
    pattern = r'R"(\w*)\((?:.|\n)*?\)\1"|"(?:\\.|[^"\\\n])*"|//[^\n]*|\'(?:\\.|[^\'\\])\'(?!\w)'
    blank = lambda match: re.sub(r"[^\n]", " " if match[0].startswith("//") else "_", match[0])
    return re.sub(pattern, blank, text)


class Source:
    def __init__(self, path, text):
        self.path, self.text, self.code = path, text, without_texts(text)
        self.starts = [0] + [match.end() for match in re.finditer("\n", text)]
        self.initialised_once = [(match.start(), self.end_of_statement(match.end())) for match in ONCE.finditer(self.code)]

    def line_of(self, at):
        return bisect.bisect_right(self.starts, at)

    def line_text(self, at):
        start = self.starts[self.line_of(at) - 1]
        return self.text[start:].split("\n", 1)[0]

    def passed_over(self, at):
        return PASSED_OVER.search(self.line_text(at)) is not None

    def closing(self, opening):
        """The offset of the bracket that closes the one at `opening`."""
        depth = 0
        for at in range(opening, len(self.code)):
            depth += (self.code[at] in OPENING) - (self.code[at] in CLOSING)
            if depth == 0:
                return at
        raise ValueError(f"{self.path}:{self.line_of(opening)}: a bracket that is not closed")

    def end_of_statement(self, at):
        while self.code[at] != ";":
            at = self.closing(at) + 1 if self.code[at] in OPENING else at + 1
        return at

    def stops(self, at, operators):
        code = self.code
        if code[at] in ",;?" or code.startswith(operators, at):
            return True
        if code[at] == ":":
            return code[at + 1] != ":" and code[at - 1] != ":"
        return code[at] == "=" and code[at - 1] not in "=!<>" and code[at + 1] != "="

    def left_operand(self, at, operators):
        """Where the operand that ends before `at` begins."""
        depth = 0
        begin = at
        while begin > 0:
            char = self.code[begin - 1]
            if char in CLOSING:
                depth += 1
            elif char in OPENING:
                depth -= 1
                if depth < 0:
                    break
            elif depth == 0 and self.stops(begin - 1, operators):
                if self.code.startswith(operators, begin - 1):
                    begin += 1
                break
            begin -= 1
            if depth == 0 and self.code.startswith("return ", begin):
                begin += len("return ")
                break
        while self.code[begin].isspace():
            begin += 1
        return begin

    def right_operand(self, at, operators):
        """Where the operand that begins at `at` ends."""
        depth = 0
        for end in range(at, len(self.code)):
            char = self.code[end]
            if depth == 0 and (char in CLOSING or self.stops(end, operators)):
                break
            depth += (char in OPENING) - (char in CLOSING)
        while self.code[end - 1].isspace():
            end -= 1
        return end

    def binary(self):
        for match in BINARY_OPERATOR.finditer(self.code):
            name, others = BINARY[match[0]]
            names = ", ".join(f"::fault::{each}" for each in [name, *(BINARY[other][0] for other in others)])
            schema = [(match.end(), 0, f" ::fault::Infix<NUMBER, {names}>{{}} {match[0]}", 0)]
            for other in others:
                yield Fault(self, match.start(), match[0], other, (match.start(), len(match[0]), other), schema)
                schema = []  # the first one's holds them all

    def logical(self):
        for match in LOGICAL.finditer(self.code):
            at, end = match.start(), match.end()
            begin = self.left_operand(at, ("||",) if match[0] == "&&" else ("\x00",))
            stop = self.right_operand(end, ("&&", "||") if match[0] == "&&" else ("||",))
            flip = "::fault::flip<NUMBER>("
            schema = [(begin, 0, flip + flip, begin - stop), (at - 1, 0, ")", 0), (end + 1, 0, flip, begin - stop),
                      (stop, 0, "))", stop - begin)]
            yield Fault(self, at, match[0], "||" if match[0] == "&&" else "&&",
                        (at, 2, "||" if match[0] == "&&" else "&&"), schema)

    def constants(self):
        for match in NUMBER.finditer(self.code):
            new = str(float(match[0]) + 1) if "." in match[0] else str(int(match[0]) + 1)
            yield Fault(self, match.start(), match[0], new, (match.start(), len(match[0]), new),
                        [(match.start(), len(match[0]), f"({match[0]} + ::fault::on(NUMBER))", 0)])
        for match in TRUTH.finditer(self.code):
            new = "false" if match[0] == "true" else "true"
            text = "(!::fault::on(NUMBER))" if match[0] == "true" else "::fault::on(NUMBER)"
            yield Fault(self, match.start(), match[0], new, (match.start(), len(match[0]), new),
                        [(match.start(), len(match[0]), text, 0)])

    def calls(self):
        for match in EXTREME.finditer(self.code):
            new = "std::max" if match[1] == "min" else "std::min"
            yield Fault(self, match.start(), match[0], new, (match.start(), len(match[0]), new),
                        [(match.start(), len(match[0]), f"::fault::Extreme<NUMBER>::{match[1]}", 0)])
        for pattern, old, new, name in [(NOT, "!", "nothing", "Not"), (MINUS, "-", "nothing", "Negated"),
                                        (INCREMENT, "++", "--", "Increment")]:
            for match in pattern.finditer(self.code):
                yield Fault(self, match.start(), old, new, (match.start(), len(old), "" if new == "nothing" else new),
                            [(match.start(), len(old), f"::fault::{name}<NUMBER>{{}} ->* ", 0)])

    def conditions(self):
        for match in CONDITION.finditer(self.code):
            close = self.closing(match.end() - 1)
            condition = self.code[match.end():close]
            if re.search(r";| = ", condition) or "constexpr" in self.code[match.start() - 1:match.end()]:
                continue
            plain = (match.end(), close - match.end(), f"!({self.text[match.end():close]})")
            length = close - match.end() + 1
            yield Fault(self, match.start(), "if", "if not", plain,
                        [(match.end(), 0, "::fault::flip<NUMBER>(", -length), (close, 0, ")", length)])

    def statements(self):
        for match in STATEMENT.finditer(self.code):
            before = self.code[: match.start()].rstrip()
            if not before or not (before[-1] in ";{})" or before.endswith("else")):
                continue
            end = match.end()
            while self.code[end] not in ";," + CLOSING:
                end = self.closing(end) + 1 if self.code[end] in OPENING else end + 1
            if self.code[end] == ";" and not re.match(r"(return|throw|if|for|while|switch|else|do)\b", self.code[match.end():]):
                plain = (match.end(), end + 1 - match.end(), ";")
                yield Fault(self, match.end(), "statement", "nothing", plain,
                            [(match.end(), 0, "if (::fault::on(NUMBER)) {} else ", -10**9)])

    def faults(self):
        """In order, numbered among those whose line and change are alike."""
        kinds = [self.binary, self.logical, self.constants, self.calls, self.conditions, self.statements]
        found = [fault for kind in kinds for fault in kind() if not self.passed_over(self.starts[fault.line - 1])]
        found.sort(key=lambda fault: (fault.line, fault.plain[0]))
        seen = {}
        for fault in found:
            alike = (fault.text, fault.old, fault.new)
            fault.nth = seen[alike] = seen.get(alike, 0) + 1
        return found

    def with_fault(self, fault):
        at, length, new = fault.plain
        return self.text[:at] + new + self.text[at + length:]

    def with_all(self, numbered):
        """The source in which each of these (number, fault) can be chosen."""
        edits = []
        for number, fault in numbered:
            edits += [(at, rank, length, text.replace("NUMBER", str(number))) for at, length, text, rank in fault.schema]
        pieces, done = [], 0
        for at, _, length, text in sorted(edits, key=lambda edit: edit[:2]):
            pieces += [self.text[done:at], text]
            done = at + length
        text = "".join(pieces) + self.text[done:]
        # What a fault may change is no constant of the compiler's.
        return '#include "tests/mutants/fault.hpp"\n#line 1\n' + re.sub(
            r"^( *)constexpr (?=[^\n]*::fault::)", r"\1const ", text, flags=re.M)
