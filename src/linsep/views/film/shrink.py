"""Scripts and styles without what only people need, line by line; where in doubt, a line stays."""

import re

TEXT = re.compile(r'("[^"]*"|`[^`]*`)')
LOOSE = re.compile(r" *([{}()\[\];,:?=<>&|*]) *")  # not + or -: a space tells a + +b from a++b
REMARK = re.compile(r" // [^\"'`]*$")  # no quote follows, so that it stands in no text
STYLE = re.compile(r"\s*([{};,])\s*|(?<=:)() ")
DOUBT = re.compile(r"[/\\']")  # a comment, a regular expression, an escape, another quote
WHOLE = re.compile(r"`(?:[^`$]|\$(?!\{)|\$\{[^{}`]*\})*`")  # a template without one inside


def shrink(script: str) -> str:
    """The same script in fewer bytes. Lines with templates inside templates are left alone.

    A template that goes over several lines is refused.

    >>> shrink('let a = f( 1, "x , y" );\\nlet b = `{ ${a} }` + a / 2;')
    'let a=f(1,"x , y");\\nlet b=`{ ${a} }` + a / 2;'
    """
    return "\n".join(map(_line, script.split("\n")))


def shrink_style(style: str) -> str:
    """A style in fewer bytes.

    >>> shrink_style('a > b { color: red; content: "x: y" }')
    'a > b{color:red;content:"x: y"}'
    """
    pieces = TEXT.split(style)
    return "".join(one if k % 2 else STYLE.sub(r"\1", one) for k, one in enumerate(pieces))


def _line(line: str) -> str:
    line = REMARK.sub("", line)
    ticks = line.count("`")
    if ticks % 2:
        raise ValueError(f"a template must end in its line: {line[:80]!r}")
    pieces = TEXT.split(line)
    texts, code = pieces[1::2], "".join(pieces[::2]).replace(" / ", "")  # with spaces it divides
    nested = ticks > 2 and not all(WHOLE.fullmatch(one) for one in texts if one[0] == "`")
    if nested or "\\" in line or DOUBT.search(code):
        return line
    return "".join(one if k % 2 else LOOSE.sub(r"\1", one) for k, one in enumerate(pieces))
