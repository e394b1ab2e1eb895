"""Scripts and styles without what only people need."""

import re

TEXT = re.compile(r'("[^"]*"|`[^`]*`)')
STYLE = re.compile(r"\s*([{};,])\s*|(?<=:)() ")
# What is told from code at its first sign: texts, regular expressions, remarks to the line's end.
LITERAL = re.compile(
    r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|//[^\n]*'
    r"|(?<=[(,=:])\s*/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*"
)
NOUGHT = re.compile(r"(?<![\w.$#])0\.(?=\d)")
CONSTANT = re.compile(r"\bconst\b(?=[ {\[])")
LOOSE = re.compile(r" *([{}()\[\];,:?=<>&|*!%/]|(?<![+-] )[+-](?! ?[+-])) *")


def shrink(script: str) -> str:
    """The same script in fewer bytes: no remarks, no spaces or ends of lines that tell nothing.

    A template that goes over several lines is refused.

    A constant becomes a variable, whose word is shorter.

    >>> shrink('const a = f( 1, "x , y" );  // why\\nlet b = `{ ${a + `${ b } `} }` + a / 2;')
    'let a=f(1,"x , y");let b=`{ ${a+`${b} `} }`+a/2;'
    >>> shrink("a + +b - -c")
    'a + +b - -c'
    """
    return re.sub(r"(?<=[;{,(\[])\n+", "", _code(script, 0, "")[0])


def shrink_style(style: str) -> str:
    """A style in fewer bytes.

    >>> shrink_style('a > b { width: 0.5em; content: "x: y" }')
    'a > b{width:.5em;content:"x: y"}'
    """
    pieces = TEXT.split(style)
    short = (NOUGHT.sub(".", STYLE.sub(r"\1", one)) for one in pieces[::2])
    return "".join(one for pair in zip(short, [*pieces[1::2], ""], strict=True) for one in pair)


def _code(script: str, at: int, end: str) -> tuple[str, int]:
    """Code from a place on, up to a closing brace of its own if `end` is one; and where it ends."""
    made, start, depth = [], at, 0

    def loose() -> None:
        made.append(CONSTANT.sub("let", LOOSE.sub(r"\1", script[start:at])))

    while at < len(script) and not (script[at] == end and depth == 0):
        sign = script[at]
        depth += (sign == "{") - (sign == "}")
        literal = LITERAL.match(script, at)
        if sign != "`" and literal is None:
            at += 1
            continue
        loose()
        if literal is None:
            text, at = _template(script, at)
            made.append(text)
        else:
            at = literal.end()
            made.append("" if literal[0].startswith("//") else literal[0].lstrip())
        start = at
    loose()
    return "".join(made), at


def _template(script: str, at: int) -> tuple[str, int]:
    """A template from its first quote on, with the code inside it shrunk; and where it ends."""
    made, start, at = [], at, at + 1
    while script[at] != "`":
        if script[at] == "\n":
            raise ValueError(f"a template must end in its line: {script[start:at]!r}")
        if script.startswith("${", at):
            made.append(script[start : at + 2])
            code, at = _code(script, at + 2, "}")
            made.append(code.strip())
            start = at
        at += 2 if script[at] == "\\" else 1
    return "".join(made) + script[start : at + 1], at + 1
