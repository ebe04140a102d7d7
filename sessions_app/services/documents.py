"""State documents as people bring them: read, or refused with the place of what is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentadmin.engine.errors import DecodeError, TooLarge
from agentadmin.engine.state import codec, interop
from agentadmin.engine.state.interop import Format, java

if TYPE_CHECKING:
    from agentadmin.engine.state.agent_state import AgentState

MAX_BYTES = 32 * 1024 * 1024

_ARCHIVES = {
    b"PK\x03\x04": "a ZIP archive",
    b"PK\x05\x06": "a ZIP archive",
    b"\x1f\x8b": "gzip data",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ": "xz data",
    b"7z\xbc\xaf": "a 7z archive",
    b"\x28\xb5\x2f\xfd": "Zstandard data",
    b"Rar!": "a RAR archive",
}
_TAR_MARK, _TAR_OFFSET = b"ustar", 257
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was read: its text as it is kept, its values, and the state it holds."""

    text: str
    value: Any
    format: Format
    state: AgentState
    legacy: bool = False
    """Whether it is what AgentScope 1.x kept: messages and tool groups, no state."""

    def field(self, name: str) -> Any:
        """A field of the document's own, None where it has none."""
        return self.value.get(name) if isinstance(self.value, dict) else None


@dataclass(frozen=True, slots=True)
class Given:
    """A document that a door has read already, as a value."""

    value: Any


def read_document(document: bytes | str | Given, format: str = "auto") -> Document:
    """The state in a document of a known format; a wrong field is refused by its path."""
    if isinstance(document, Given):
        return _read(_written(document.value), document.value, format)
    data = document.encode("utf-8", "surrogatepass") if isinstance(document, str) else document
    if len(data) > MAX_BYTES:
        raise TooLarge("A document may have at most 32 MB.")
    _refuse_archive(data)
    data = data.removeprefix(_BOM)
    value = _decoded(data)
    return _read(_storable(data, value), value, format)


def _written(value: Any) -> str:
    """Canonical text, message by message: writing all of it at once would stop other threads."""
    if not isinstance(value, dict) or not isinstance(value.get("context"), list):
        return codec.dumps(value)
    fields = (f"{codec.dumps(str(name))}:{_listed(part)}" for name, part in value.items())
    return f"{{{','.join(fields)}}}"


def _listed(part: Any) -> str:
    if not isinstance(part, list):
        return codec.dumps(part)
    return f"[{','.join(map(codec.dumps, part))}]"


def _read(text: str, value: Any, format: str) -> Document:
    kind = interop.detect(value) if format == "auto" else interop.named(format)
    return Document(text, value, kind, interop.read(value, kind), java.is_legacy(value))


def _refuse_archive(data: bytes) -> None:
    kinds = [kind for mark, kind in _ARCHIVES.items() if data.startswith(mark)]
    if data[_TAR_OFFSET : _TAR_OFFSET + len(_TAR_MARK)] == _TAR_MARK:
        kinds.append("a tar archive")
    if kinds:
        raise DecodeError(f"This is {kinds[0]}, not a state; unpack it and import what is in it.")


def _decoded(data: bytes) -> Any:
    """One JSON value, or the JSON lines in which AgentScope 1.x kept its messages."""
    if not data.strip():
        raise DecodeError("The document is empty.")
    try:
        return codec.loads(data)
    except DecodeError:
        lines = [line for line in data.splitlines() if line.strip()]
        if len(lines) < 2 or not all(line.lstrip().startswith(b"{") for line in lines):
            raise
        return [_line(number, line) for number, line in enumerate(lines, 1)]


def _line(number: int, line: bytes) -> Any:
    try:
        return codec.loads(line)
    except DecodeError as error:
        raise DecodeError(f"line {number}: {error.detail}") from None


def _storable(data: bytes, value: Any) -> str:
    """The text as it came; where it holds lone surrogates raw, the same value in ASCII for them."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return codec.dumps(value)
