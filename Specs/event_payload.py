#!/usr/bin/env python3
"""Decodes the payloads of session events and notes, from Specs/EventCodec.md alone.

    decode(kind, payload) -> {"name": ..., "time": ..., "facts": {...}}

Run as a program, it checks itself against Specs/Golden/events.txt.
"""
import datetime
import json
import os
import re
import sys

CODES = {
    "login method": "password registration social biometric interactive silent adoption "
                    "refreshToken custom",
    "refresh trigger": "schedule unauthorized launch foreground manual retry command reauthentication",
    "switch trigger": "user server",
    "expiry reason": "tokenExpired refreshRejected attemptsExhausted secretsMissing corruptStorage"
    " secretsOutdated userInactive inactivity endedByServer secretsNewer lifetimeEnded"
    " proofKeyLost",
    "logout reason": "user policy userDeleted",
    "request kind": "refresh switchContext",
    "revocation outcome": "revoked notOffered failed abandoned alreadyInvalid",
    "secret item": "token user context revocation refreshToken",
    "storage operation": "read write remove setAside find reserve",
    "lock reason": "user unused launch",
    "wipe cause": "signedOut otherJournal unreadable",
    "continuation cause": "damaged newerVersion notAJournal lost",
    "storage cause": "noRoom refused busy replaced unusable failed unavailable newerVersion"
    " obstructed tooLarge missing ownerMissing ownerUnreadable",
    "error meaning": "refreshTokenReused tokenRevoked tokenExpired sessionNotFound tokenInvalid"
    " userInactive userDeleted clientRefused unspecified userNeeded",
    "platform": "unknown iOS macOS watchOS tvOS visionOS linux android windows",
    "failure kind": "noConnection noReply server rateLimited unreadable rejected noRefreshToken"
    " unexpected userInactive userDeleted secretsUnavailable intercepted otherUser userNeeded"
    " proofKeyLost",
}
SHAPES = {
    "named": [("id", "id"), ("name", "text")],
    "token": [("generation", "u64"), ("issuedAt", "time"), ("expiresAt", "time"), ("id", "id?"),
              ("isRefreshable", "flag")],
    "context": [("role", "named"), ("school", "named?"), ("unit", "named?"),
                ("permissions", "texts")],
    "failure": [("kind", "failure kind"), ("status", "u16"), ("serverCode", "text?"),
                ("retryAfter", "i64?")],
    "failures": [("total", "u32"), ("answered", "u32"), ("last", "failure?")],
    "authenticated": [("user", "id"), ("method", "login method"), ("since", "time"),
                      ("token", "token"), ("context", "context?"), ("failures", "failures")],
    "expired": [("user", "id"), ("context", "context?"), ("reason", "expiry reason"),
                ("since", "time")],
}
SENT = [("kind", "request kind"), ("generation", "u64"), ("trigger", "refresh trigger"),
        ("attempt", "u32"), ("process", "u32"), ("deadline", "time")]
# Which opening it is. The readable form leaves it out if a record does not say.
SHAPES["identity"] = [("opening", "id"), ("boot", "id?"), ("namespace", "id?"), ("start", "u64"),
                      ("lock", "id?")]
SHAPES["open request"] = [("sequence", "u64")] + SENT
SNAPSHOT = 0x7F
KINDS = {
    0x01: ("login", [("user", "id"), ("method", "login method"), ("token", "token"),
                     ("context", "context?")]),
    0x02: ("refreshSucceeded", [("token", "token"), ("trigger", "refresh trigger"),
                                ("attempt", "u32"), ("isRotated", "flag"), ("request", "u64")]),
    0x03: ("refreshFailed", [("generation", "u64"), ("trigger", "refresh trigger"),
                             ("attempt", "u32"), ("failure", "failure"), ("retryAt", "time?"),
                             ("request", "u64"), ("meaning", "error meaning", 2)]),
    0x04: ("contextSwitched", [("context", "context"), ("token", "token?"),
                               ("trigger", "switch trigger"), ("request", "u64")]),
    0x05: ("sessionExpired", [("reason", "expiry reason")]),
    0x06: ("logout", [("reason", "logout reason")]),
    SNAPSHOT: ("snapshot", [("sequence", "u64"), ("eventSequence", "u64"), ("generation", "u64"),
                            ("authenticated", "authenticated?"), ("expired", "expired?"),
                            ("request", "open request?"), ("revocations", "generations"),
                            ("identity", "identity", 2)]),
    0x81: ("opened", [("process", "u32"), ("boot", "id?"), ("uptime", "i64"), ("app", "app", 2),
                      ("identity", "identity", 3), ("platform", "platform", 4),
                      ("policy", "policy", 5)]),
    0x82: ("closed", []),
    0x83: ("tailCut", [("bytes", "u64"), ("isUndetermined", "flag")]),
    0x84: ("requestSent", SENT + [("identity", "identity", 2)]),
    0x85: ("requestEnded", [("request", "u64"), ("failure", "failure")]),
    0x86: ("tokenRecovered", [("generation", "u64")]),
    0x87: ("revocationPending", [("generation", "u64")]),
    0x88: ("revocationSettled", [("generation", "u64"), ("outcome", "revocation outcome"),
                                 ("status", "u16")]),
    0x89: ("secretsWiped", [("cause", "wipe cause")]),
    0x8A: ("itemUnreadable", [("item", "secret item")]),
    0x8B: ("continued", [("journal", "id?"), ("sequence", "u64"),
                         ("cause", "continuation cause")]),
    0x8C: ("clockSkew", [("milliseconds", "i64")]),
    0x8F: ("localDataCleared", []),
    0x9D: ("moved", []),
    0x90: ("storageFailed", [("item", "secret item"), ("operation", "storage operation"),
                             ("cause", "storage cause"), ("number", "i64")]),
    0x91: ("storageRecovered", [("item", "secret item"), ("operation", "storage operation")]),
    0x92: ("answerDropped", [("request", "u64"), ("cause", "storage cause")]),
    0x93: ("answerUnused", [("request", "u64")]),
    0x95: ("deviceClockUsed", [("generation", "u64")]),
    0x99: ("refreshTokenLife", [("generation", "u64"), ("milliseconds", "i64")]),
    0x9A: ("locked", [("reason", "lock reason")]),
    0x9B: ("unlocked", []),
    0x9C: ("tokensBound", [("generation", "u64"), ("thumbprint", "id")]),
    0x96: ("userNeeded", [("generation", "u64"), ("isOfCall", "flag"), ("failure", "failure"),
                          ("demand", "demand")]),
}
# A field has a third part where it came with a later version than the first.
KNOWN_VERSIONS = {kind: max([1] + [since for _, _, *sinces in shape for since in sinces])
                  for kind, (_, shape) in KINDS.items()}
CODE_LETTERS = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.")
APP_LETTERS = CODE_LETTERS | {"+"}
POLICY_LETTERS = APP_LETTERS - set("_.") | set("=,")


def is_demand(text):
    """Whether a text is what a server asked for, and no token, address or number of a person."""
    def is_shown(key, value):
        if key == "max_age":
            return re.fullmatch("0|[1-9][0-9]*", value) and int(value) < 2**32
        return (key in ("acr", "scope") and re.fullmatch("[A-Za-z0-9:/#*._-]{1,200}", value)
                and "eyJ" not in value and not re.search("[A-Za-z0-9_-]{32}", value)
                and not re.search("[0-9]([._-]*[0-9]){6}", value))
    words = [word.partition("=") for word in text.split(" ")]
    return 1 <= len(text) <= 400 and all(is_shown(key, value) for key, _, value in words)


class PayloadError(ValueError):
    """The payload is not what its kind says."""


def rfc3339(milliseconds):
    """The time in UTC; years outside 1...9999 by whole cycles of 400 years."""
    days, rest = divmod(milliseconds, 86_400_000)
    cycles, days = divmod(days, 146_097)
    day = datetime.date(1970, 1, 1) + datetime.timedelta(days=days)
    year = day.year + 400 * cycles
    shown = f"{year:04}" if 0 <= year <= 9999 else f"{'-' if year < 0 else '+'}{abs(year):04}"
    seconds, fraction = divmod(rest, 1000)
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{fraction:03}"
    return f"{shown}-{day.month:02}-{day.day:02}T{clock}Z"


class Reader:
    """Takes fields off the front of a payload."""

    def __init__(self, payload):
        self.payload, self.offset = payload, 0

    def take(self, count):
        if len(self.payload) - self.offset < count:
            raise PayloadError(f"cut short at byte {self.offset}")
        self.offset += count
        return self.payload[self.offset - count:self.offset]

    def integer(self, size, signed=False):
        return int.from_bytes(self.take(size), "little", signed=signed)

    def byte(self, highest):
        value = self.integer(1)
        if value > highest:
            raise PayloadError(f"byte {self.offset - 1} is {value}")
        return value

    def text(self):
        start = self.offset
        try:
            return self.take(self.integer(4)).decode("utf-8")
        except UnicodeDecodeError:
            raise PayloadError(f"not UTF-8 at byte {start}") from None

    def identifier(self, optional):
        tag = self.byte(2)
        if tag == 0 and not optional:
            raise PayloadError(f"byte {self.offset - 1} is 0")
        if tag == 1:
            digits = self.take(16).hex()
            return "-".join(digits[a:b] for a, b in
                            ((0, 8), (8, 12), (12, 16), (16, 20), (20, 32)))
        return self.text() if tag == 2 else None

    def value(self, kind):
        if kind in ("id", "id?"):
            return self.identifier(optional=kind == "id?")
        if kind.endswith("?"):
            return self.value(kind[:-1]) if self.byte(1) else None
        if kind in SHAPES:
            return self.fields(SHAPES[kind])
        if kind in CODES:
            words, code = CODES[kind].split(), self.integer(1)
            return words[code] if code < len(words) else f"unknown({code})"
        if kind == "flag":
            return self.byte(1) == 1
        if kind == "time":
            return rfc3339(self.integer(8, signed=True))
        if kind == "text":
            return self.text()
        if kind in ("app", "policy"):
            text = self.text()
            most, letters = (64, APP_LETTERS) if kind == "app" else (400, POLICY_LETTERS)
            return text if 1 <= len(text) <= most and set(text) <= letters else None
        if kind == "demand":
            text = self.text()
            return text if is_demand(text) else None
        if kind == "texts":
            return sorted({self.text() for _ in range(self.integer(4))})
        if kind == "generations":
            return [self.integer(8) for _ in range(self.integer(4))]
        return self.integer(int(kind[1:]) // 8, signed=kind[0] == "i")

    def fields(self, shape, version=1):
        values = {name: self.value(kind) if version >= max(since, default=1) else None
                  for name, kind, *since in shape}
        if shape is SHAPES["failure"]:
            code, wait = values["serverCode"], values["retryAfter"]
            if code is not None and not (1 <= len(code) <= 64 and set(code) <= CODE_LETTERS):
                values["serverCode"] = None
            values["retryAfter"] = None if wait is None else max(0, wait)
        if values.get("policy") is not None and values["platform"] == "unknown(255)":
            values["platform"] = None
        for name in ("identity", "meaning", "platform", "policy", "demand"):
            if values.get(name, 0) is None:
                del values[name]
        return values


HIGHEST = (1 << 32) - 1
UNANSWERED = ("noConnection", "noReply", "noRefreshToken", "secretsUnavailable",
              "intercepted")


def impossible(facts):
    """The first field of a snapshot that no history leads to, or None."""
    last, event = facts["sequence"], facts["eventSequence"]
    session, expired, request = facts["authenticated"], facts["expired"], facts["request"]
    if event > last:
        return "eventSequence"
    if (facts["generation"] == 0) != (event == 0):
        return "generation"
    if session is not None:
        failures = session["failures"]
        total, answered, failure = failures["total"], failures["answered"], failures["last"]
        fits = (session["token"]["generation"] == facts["generation"] and event > total
                and (total == 0) == (failure is None) and answered <= total)
        if fits and failure is not None:
            fits = (answered < total or total == HIGHEST if failure["kind"] in UNANSWERED
                    else answered > 0)
        if not fits:
            return "authenticated"
        if expired is not None:
            return "expired"
    elif event < 2 and (event != 0 or expired is not None):
        return "expired"
    if request is not None:
        place = request["sequence"]
        if not 1 <= place <= last or place == event or (session is None and place < event):
            return "request"
    revocations = facts["revocations"]
    if len(set(revocations)) < len(revocations) or len(revocations) > last:
        return "revocations"
    return None


def decode(kind, payload):
    """What a record of this kind with this payload says; raises PayloadError."""
    reader = Reader(bytes(payload))
    time = reader.value("time")
    if kind not in KINDS:
        rest = reader.payload[reader.offset:]
        return {"name": f"unknown({kind})", "time": time,
                "facts": {"payload": rest.hex(), "isIgnorable": kind & 0x80 != 0}}
    name, shape = KINDS[kind]
    version = reader.integer(1)
    if version == 0:
        raise PayloadError("version 0")
    if kind == SNAPSHOT and 0xA0 <= version <= 0xBF:
        # Of another kind of log: Specs/ChangeLog.md.
        rest = reader.payload[reader.offset - 1:]
        return {"name": f"unknown({kind})", "time": time,
                "facts": {"payload": rest.hex(), "isIgnorable": False}}
    facts = reader.fields(shape, version)
    if kind == SNAPSHOT:
        # What stands at its end belongs to the open request.
        identity = facts.pop("identity", None)
        if impossible(facts):
            raise PayloadError(f"no history leads to its {impossible(facts)}")
        if identity and not facts["request"]:
            raise PayloadError("no history leads to its identity")
        if identity:
            facts["request"]["identity"] = identity
    if reader.offset < len(reader.payload) and version <= KNOWN_VERSIONS[kind]:
        raise PayloadError(f"bytes too many at byte {reader.offset}")
    return {"name": name, "time": time, "facts": facts}


def check(golden, kinds, decode):
    """Holds `decode` against a golden file, which has a line for each of the kinds at least."""
    golden = sys.argv[1] if len(sys.argv) > 1 else os.path.join(
        os.path.dirname(os.path.abspath(__file__)), "Golden", golden)
    seen = set()
    with open(golden, encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if line.startswith("#") or not line.strip():
                continue
            kind, payload, readable = line.rstrip("\n").split(" | ", 2)
            kind, payload = int(kind, 16), bytes.fromhex(payload)
            found = json.dumps(decode(kind, payload), ensure_ascii=False, separators=(",", ":"))
            if found != readable:
                sys.exit(f"{golden}:{number}: expected {readable}\n  found {found}")
            # Of a kind that nobody knows only the time is read.
            for cut in range(len(payload) if kind in kinds else 8):
                try:
                    decode(kind, payload[:cut])
                except PayloadError:
                    continue
                sys.exit(f"{golden}:{number}: cut to {cut} bytes, it still decodes")
            seen.add(kind)
    if not seen >= set(kinds):
        sys.exit(f"{golden}: no line for {sorted(set(kinds) - seen)}")
    print(f"{golden}: {len(seen)} kinds decode as they should")


if __name__ == "__main__":
    check("events.txt", KINDS, decode)
