#!/usr/bin/env python3
"""Decodes the payloads of a change log, from Specs/ChangeLog.md alone.

    decode(kind, payload) -> {"name": ..., "time": ..., "facts": {...}}

What the user wrote is shown as a number of bytes, a path without its query. Run as a program, it checks
itself against Specs/Golden/changes.txt.
"""
from event_payload import CODES, PayloadError, Reader, check

SNAPSHOT = 0x7F
CODES["giving up"] = "refused attemptsExhausted endUnknown"
CODES["discarding"] = "logout app"
OPERATIONS = {0: "create", 1: "update", 2: "delete"}
SENT = [("key", "id"), ("sender", "id"), ("process", "u32"), ("deadline", "time")]
POSTPONED = [("key", "id"), ("isCounted", "flag"), ("retryAt", "time"), ("reason", "text")]
SIGN_IN = [("journal", "id"), ("generation", "u64")]
LEAVING = [("journal", "id"), ("process", "u32"), ("until", "time")]
KINDS = {
    0xA0: ("changeAdded", None),
    0xA1: ("changeSent", SENT),
    0xA2: ("changeAcknowledged", [("key", "id")]),
    0xA3: ("changePostponed", POSTPONED),
    0xA4: ("changeGivenUp", [("key", "id"), ("cause", "giving up"), ("reason", "text")]),
    0xA5: ("changeDiscarded", [("key", "id?"), ("cause", "discarding")]),
    0xA6: ("scopeChecked", [("scope", "text"), ("statusChangedAt", "time")]),
    0xA7: ("addedBy", SIGN_IN),
    0xA8: ("leaving", LEAVING),
    0xA9: ("signInEnded", SIGN_IN),
    0xAA: ("changeRetried", [("key", "id")]),
    SNAPSHOT: ("changesSnapshot", None),
}


def entity(reader):
    return {"scope": reader.text(), "type": reader.text(), "id": reader.identifier(False)}


def items(reader, read):
    return [read(reader) for _ in range(reader.integer(4))]


def size(reader):
    return len(reader.take(reader.integer(4)))


def change(reader):
    key = reader.identifier(False)
    operation = reader.integer(1)
    if operation in OPERATIONS:
        named = entity(reader)
        count = size(reader)
        mentions = items(reader, entity)
        if operation == 2 and (count or mentions):
            raise PayloadError("a deletion with content")
        return {"key": key, "operation": OPERATIONS[operation], **named, "mentions": mentions,
                "bytes": count}
    if operation != 0x10:
        raise PayloadError(f"no operation {operation}")
    method, path = reader.text(), reader.text()
    if not is_request(method, path):
        raise PayloadError("no request")
    content_type = reader.value("text?")
    if content_type is not None and not is_content_type(content_type):
        raise PayloadError("no content type")
    return {"key": key, "operation": "request", "method": method, "path": path.split("?")[0],
            "contentType": content_type, "bytes": size(reader)}


def is_request(method, path):
    return (1 <= len(method) <= 16 and method.isascii() and method.isalpha()
            and path.startswith("/") and not path.startswith("//") and len(path) <= 8192
            and all("!" <= letter <= "~" for letter in path))


def is_content_type(text):
    return len(text) <= 1024 and all(" " <= letter <= "~" for letter in text)


def optional(reader, shape):
    return reader.fields(shape) if reader.byte(1) else None


def pending(reader):
    found = {"user": reader.identifier(False), **change(reader), "since": reader.value("time")}
    sent = optional(reader, SENT)
    reader.value("time")
    found["sends"], found["attempts"] = reader.integer(4), reader.integer(4)
    if (sent is None) != (found["sends"] == 0):
        raise PayloadError("sent how often?")
    optional(reader, POSTPONED)
    reader.value("time")
    return found


def failed(reader):
    return {"user": reader.identifier(False), **change(reader), "cause": reader.value("giving up"),
            "reason": reader.text(), "time": reader.value("time")}


def scope(reader):
    return reader.fields(KINDS[0xA6][1])


def sign_ins(reader, pending, failures):
    """What stands behind the rest of a snapshot of version 0xA1; only read, but for being possible."""
    found = []
    for _ in range(pending):
        found += [optional(reader, SIGN_IN), reader.value("flag") or None]
    found += [optional(reader, SIGN_IN) for _ in range(failures)] + [optional(reader, SIGN_IN)]
    ended = items(reader, lambda reader: reader.fields(SIGN_IN)["journal"])
    leaving = items(reader, lambda reader: reader.fields(LEAVING + [("since", "time")]))
    for journals in ended, [item["journal"] for item in leaving]:
        if len(journals) > 64 or len(set(journals)) < len(journals):
            raise PayloadError("a journal that is there twice, or too many")
    if any(item["until"] <= item["since"] for item in leaving):
        raise PayloadError("a logout that was over when it began")
    if not ended and not leaving and not any(found):
        raise PayloadError("a snapshot with nothing to say of sign-ins")


def snapshot(reader):
    found = {"pending": items(reader, pending), "failures": items(reader, failed),
             "scopes": items(reader, scope)}
    keys = [item["key"] for item in found["pending"]]
    if len(set(keys)) < len(keys) or any(item["sends"] for item in found["pending"][1:]):
        raise PayloadError("a snapshot that no history leads to")
    return found


def decode(kind, payload):
    """What a record of this kind with this payload says; raises PayloadError."""
    reader = Reader(bytes(payload))
    time = reader.value("time")
    version = reader.integer(1)
    if version == 0:
        raise PayloadError("version 0")
    if kind not in KINDS:
        raise PayloadError(f"kind {kind} is not known")
    name, shape = KINDS[kind]
    if version not in ((0xA0, 0xA1) if kind == SNAPSHOT else (1,)):
        raise PayloadError(f"version {version} is not known")
    if kind == SNAPSHOT:
        facts = snapshot(reader)
        if version == 0xA1:
            sign_ins(reader, len(facts["pending"]), len(facts["failures"]))
    elif kind == 0xA0:
        facts = {"user": reader.identifier(False), **change(reader)}
    else:
        facts = reader.fields(shape)
    if reader.offset < len(reader.payload):
        raise PayloadError(f"bytes too many at byte {reader.offset}")
    return {"name": name, "time": time, "facts": facts}


if __name__ == "__main__":
    check("changes.txt", KINDS, decode)
