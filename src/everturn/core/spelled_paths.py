"""Paths as text that JSON and a terminal can hold, whatever bytes a file system has in its names. Pure."""


def spell_path(path: str) -> str:
    r"""Bytes that are no UTF-8, which Python holds as half characters, are written out: `caf\xe9`. Other paths stay as they are.

    Two folders whose names differ in such a byte have two spellings, so that the sessions of one are not those of the other.
    """
    try:
        path.encode()
    except UnicodeEncodeError:
        return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return path
