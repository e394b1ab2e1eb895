"""Scripts without what only people read: comments, and spaces beside brackets and signs."""

TIGHT = "{}()[];,:?=<>&|*"  # never + or -: a space between two of them tells them apart


def shrink(script: str) -> str:
    r"""The same script in fewer bytes; strings, templates and regular expressions are left alone.

    >>> shrink("let a = f( 1, 'x , y' ); // a call\nreturn `{ ${a} }`;\n")
    "let a=f(1,'x , y');\nreturn `{ ${a} }`;\n"
    """
    kept: list[str] = []
    k = 0
    while k < len(script):
        sign = script[k]
        if sign in "'\"`":
            end = _closing(script, k)
            kept.append(script[k:end])
            k = end
        elif script.startswith("//", k) and (not kept or kept[-1][-1] in " \n;{}"):
            k = script.index("\n", k)
        elif sign == "/" and (not kept or "".join(kept[-2:]).rstrip()[-1:] in "(,=:[!&|?{};"):
            end = _regular(script, k)
            kept.append(script[k:end])
            k = end
        elif sign == " ":
            before, after = kept[-1][-1:] if kept else "", script[k + 1 : k + 2]
            if before not in TIGHT + " \n" and after not in TIGHT + " \n":
                kept.append(sign)
            k += 1
        else:
            kept.append(sign)
            k += 1
    return "".join(kept)


def _closing(script: str, k: int) -> int:
    """Behind the string or template that begins at k; templates may hold others."""
    quote = script[k]
    k += 1
    while script[k] != quote:
        if script[k] == "\\":
            k += 1
        elif quote == "`" and script.startswith("${", k):
            k = _brace(script, k + 1)
            continue
        k += 1
    return k + 1


def _brace(script: str, k: int) -> int:
    """Behind the bracket that closes the one at k."""
    depth = 0
    while True:
        if script[k] in "'\"`":
            k = _closing(script, k)
            continue
        depth += {"{": 1, "}": -1}.get(script[k], 0)
        k += 1
        if depth == 0:
            return k


def _regular(script: str, k: int) -> int:
    """Behind the regular expression that begins at k."""
    inside, k = False, k + 1
    while inside or script[k] != "/":
        if script[k] == "\\":
            k += 1
        elif script[k] in "[]":
            inside = script[k] == "["
        k += 1
    return k + 1
