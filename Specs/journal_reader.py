#!/usr/bin/env python3
"""Reads a journal file by Specs/JournalFormat.md alone, with nothing but Python's own library.

usage: journal_reader.py FILE       the header, one JSON line per record, the verdict, and unless it is
                                    clean what is lost and what can be read after it
       journal_reader.py --session FILE    the same, with the payloads of a session in words
       journal_reader.py --changes FILE    the same of a change log; of a kind or version that it does not
                                    know it reads nothing more (65)
       journal_reader.py --verdict FILE...    one JSON line per file: totals and verdict only
exit:  0 ok - 2 torn tail or undetermined last commit - 65 damaged, or no journal - 66 missing -
       74 the system refused
"""
import json
import mmap
import os
import stat
import struct
import sys
import uuid

MAGIC = bytes([0x89, 0x53, 0x4A, 0x4C, 0x0D, 0x0A, 0x1A, 0x0A])
SUPPORTED, LARGEST_BATCH, UNKNOWN = 1, 16 << 20, 0xFFFFFFFF
INVALID, SNAPSHOT, WATERMARK = 0x00, 0x7F, 0xFF
LAST_SEQUENCE = (1 << 63) - 1
BEGINS_WITH_SNAPSHOT = 1  # the one feature of format 1
HEADER = struct.Struct("<8sHHI16sQQIQI")  # 64 bytes
FRAME = struct.Struct("<IIQIIIBBH")  # 32 bytes
END_OF_FILE = ("shortHeader", "shortPayload", "shortBatch")


def crc_table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        yield byte


TABLE = tuple(crc_table())


def crc32c(data, crc=0):
    crc ^= 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


class Refused(Exception):
    """There are no 64 bytes that let the file be read; the message is the verdict."""


def read_header(data):
    if len(data) == 0:
        raise Refused("empty")
    if len(data) < HEADER.size:
        common = min(len(data), len(MAGIC))
        raise Refused("headerDamaged" if data[:common] == MAGIC[:common] else "notAJournal")
    (magic, version, minimum, features, identifier, salt, first, largest, _, crc) = HEADER.unpack(
        data[:64])
    if crc32c(MAGIC + data[8:60]) != crc:
        raise Refused("headerDamaged" if magic == MAGIC else "notAJournal")
    if magic != MAGIC:
        raise Refused("headerDamaged")
    if minimum > SUPPORTED:
        raise Refused("newerFormat")
    if features & ~BEGINS_WITH_SNAPSHOT:
        raise Refused("unknownFeatures")
    lowest = 1 + features  # something stands before a snapshot's records
    if (version < 1 or minimum < 1 or not lowest <= first <= 1 << 62
            or not 64 <= largest <= 8 << 20):
        raise Refused("headerDamaged")
    return {"version": version, "features": features, "identifier": str(uuid.UUID(bytes=identifier)), "salt": salt,
            "firstSequence": first, "maximumRecordSize": largest, "crc": crc}


def read_frame(data, offset, header):
    """The frame whose header is the 32 bytes at offset, or the name of its flaw."""
    raw = data[offset:offset + 32]
    (crc, length, sequence, delta, previous, payload_crc, kind, flags, left) = FRAME.unpack(raw)
    if crc32c(struct.pack("<Q", header["salt"]) + raw[4:]) != crc:
        return "headerChecksum"
    has_snapshot = header["features"] & BEGINS_WITH_SNAPSHOT and offset == HEADER.size
    if (kind == INVALID or (kind == SNAPSHOT) != bool(has_snapshot)
            or length > header["maximumRecordSize"] or delta == 0
            or sequence > LAST_SEQUENCE
            or (kind == SNAPSHOT and (delta, left) != (UNKNOWN, 0))
            or (delta != UNKNOWN and delta > sequence)
            or (kind == WATERMARK and (length, left) != (0, 0))):
        return "impossibleHeader"
    durable = None if delta == UNKNOWN else sequence - delta
    return {"crc": crc, "length": length, "sequence": sequence, "durable": durable,
            "previous": previous, "payloadCRC": payload_crc, "kind": kind, "flags": flags,
            "left": left, "offset": offset, "size": 32 + (length + 7) // 8 * 8}


def check_frame(data, offset, header, sequence, chain, batch_start, expected):
    if len(data) - offset < 32:
        return "shortBatch" if len(data) == offset else "shortHeader"
    frame = read_frame(data, offset, header)
    if isinstance(frame, str):
        return frame
    if frame["sequence"] != sequence:
        return "sequenceBroken"
    if frame["previous"] != chain:
        return "chainBroken"
    end = offset + frame["size"]
    if (expected is not None and frame["left"] != expected) or end - batch_start > LARGEST_BATCH:
        return "batchBroken"
    if end > len(data):
        return "shortPayload"
    if crc32c(data[offset + 32:end]) != frame["payloadCRC"]:
        return "payloadChecksum"
    return frame


def is_proof(data, offset, header, sequence):
    """Whether a frame at offset says that the sequence was acknowledged."""
    if struct.unpack_from("<Q", data, offset + 8)[0] <= sequence:
        return False
    frame = read_frame(data, offset, header)
    return isinstance(frame, dict) and (frame["durable"] or 0) >= sequence


def judge(data, header, whole, next_sequence, offset, sequence, flaw):
    """The verdict at the first frame that does not count; see "Verdicts" in JournalFormat.md."""
    only_zeros = True
    for start in range(offset, len(data), 1 << 16):
        if data[start:start + (1 << 16)].count(0) == min(1 << 16, len(data) - start):
            continue
        only_zeros = False
        for at in range(max(offset, start - 24), min(start + (1 << 16), len(data) - 31), 8):
            if is_proof(data, at, header, sequence):
                return {"ending": "damaged", "offset": offset, "sequence": sequence, "flaw": flaw}
    if only_zeros and flaw not in END_OF_FILE:
        flaw = "onlyZeros"
    if only_zeros and offset == whole:
        return {"ending": "clean", "offset": whole, "room": len(data) - whole}
    ending = "torn" if only_zeros or flaw in END_OF_FILE else "undetermined"
    return {"ending": ending, "offset": whole, "sequence": next_sequence,
            "bytes": len(data) - whole, "flaw": flaw}


def possible_frame(data, offset, header):
    if len(data) - offset < 32:
        return None
    frame = read_frame(data, offset, header)
    return frame if isinstance(frame, dict) else None


def is_whole(data, frame):
    end = frame["offset"] + frame["size"]
    return end <= len(data) and crc32c(data[frame["offset"] + 32:end]) == frame["payloadCRC"]


def follows(frame, before):
    return (before is not None and frame["sequence"] == before["sequence"] + 1
            and frame["previous"] == before["crc"])


def whole_batch(data, header, first, met):
    """Its frames, and where to look on; None instead of frames if the batch is not whole."""
    frames, frame, expected = [], first, None
    while frame is not None:
        if frames and not follows(frame, frames[-1]) or expected not in (None, frame["left"]):
            break
        if frame["offset"] + frame["size"] - first["offset"] > LARGEST_BATCH:
            break
        met.append(frame)
        if not is_whole(data, frame):
            return None, frame["offset"] + 32, len(frames)
        frames.append(frame)
        place = frame["offset"] + frame["size"]
        if frame["left"] == 0:
            return frames, place, 0
        frame, expected = possible_frame(data, place, header), frame["left"] - 1
    return None, frames[-1]["offset"] + frames[-1]["size"], len(frames)


def survey(data, header, offset, sequence, chain):
    """What is lost and what is readable behind a whole prefix; see "Survey" in JournalFormat.md."""
    lost, readable, met, refuted, loose = [], [], [], None, 0
    place, end, highest = offset, offset, 0  # end: of the history; sequence: the next one
    while len(data) - place >= 32:
        length, number = struct.unpack_from("<IQ", data, place + 4)
        frame = None
        if number >= sequence and length <= header["maximumRecordSize"]:
            frame = possible_frame(data, place, header)
        if frame is None:
            place += 8
            continue
        is_next, fits = number == sequence, frame["previous"] == chain
        if not (is_next and fits) and (is_next or follows(frame, refuted)):
            refuted = frame
        elif (is_next or frame["durable"] == number - 1
                or met and met[-1]["left"] == 0 and follows(frame, met[-1])):
            before = len(met)
            frames, place, passed = whole_batch(data, header, frame, met)
            highest = max([highest] + [item["sequence"] for item in met[before:]])
            loose += passed
            if frames is None:
                continue
            records = sum(item["kind"] != WATERMARK for item in frames)
            if readable and is_next and frame["offset"] == end:
                readable[-1]["bytes"] = place - readable[-1]["offset"]
                readable[-1]["records"] += records
            else:
                lost.append({"offset": end, "bytes": frame["offset"] - end,
                             "firstSequence": None if is_next else sequence,
                             "lastSequence": None if is_next else number - 1,
                             "looseFrames": loose})
                readable.append({"offset": frame["offset"], "bytes": place - frame["offset"],
                                 "firstSequence": number, "records": records})
            readable[-1]["lastSequence"] = frames[-1]["sequence"]
            end, sequence, chain = place, frames[-1]["sequence"] + 1, frames[-1]["crc"]
            loose = 0
            continue
        else:
            highest = max(highest, number)
        met.append(frame)
        whole = is_whole(data, frame)
        loose += whole
        place += frame["size"] if whole else 32
    room = 0
    if readable and data[end:].count(0) == len(data) - end:
        room = len(data) - end
    elif end < len(data):
        known = highest >= sequence
        lost.append({"offset": end, "bytes": len(data) - end,
                     "firstSequence": sequence if known else None,
                     "lastSequence": highest if known else None, "looseFrames": loose})
    return {"lost": lost, "readable": readable, "room": room}


def read(data, on_record=lambda frame, payload: None):
    """Header, totals and verdict of a journal; on_record sees each record of a whole batch."""
    header = read_header(data)
    # A snapshot takes no sequence: it bears that of the last record it stands for.
    snapshot = header["features"] & BEGINS_WITH_SNAPSHOT
    place = (HEADER.size, header["firstSequence"] - snapshot, header["crc"])  # and sequence, chain
    totals = {"records": 0, "watermarks": 0}
    while True:
        (offset, sequence, chain), batch, expected = place, [], None
        in_snapshot = snapshot and offset == HEADER.size
        if offset == len(data) and not in_snapshot:
            return header, totals, {"ending": "clean", "offset": offset, "room": 0}
        while expected is None or expected >= 0:
            frame = check_frame(data, offset, header, sequence, chain, place[0], expected)
            if isinstance(frame, str) and in_snapshot:
                # The file got its name when all of the snapshot was durable.
                frame = "shortHeader" if offset == len(data) else frame
                verdict = {"ending": "damaged", "offset": offset, "sequence": sequence,
                           "flaw": frame, "behind": survey(data, header, *place)}
                return header, totals, verdict
            if isinstance(frame, str):
                verdict = judge(data, header, place[0], place[1], offset, sequence, frame)
                if verdict["ending"] != "clean":
                    verdict["behind"] = survey(data, header, *place)
                return header, totals, verdict
            batch.append(frame)
            expected = frame["left"] - 1
            offset, sequence, chain = offset + frame["size"], sequence + 1, frame["crc"]
        place = (offset, sequence, chain)
        for frame in batch:
            totals["watermarks" if frame["kind"] == WATERMARK else "records"] += 1
            if frame["kind"] != WATERMARK:
                start = frame["offset"] + 32
                on_record(frame, bytes(data[start:start + frame["length"]]))


def describe_payload(kind, payload):
    """What a payload means is not the journal's business; a decoder goes here."""
    return {"payload": payload.hex()}


def print_record(frame, payload):
    line = {key: frame[key] for key in ("sequence", "offset", "kind", "flags", "left")}
    print(json.dumps(line | describe_payload(frame["kind"], payload)))


def print_session_record(frame, payload):
    import event_payload  # what the payloads of sessions mean: Specs/EventCodec.md
    line = {key: frame[key] for key in ("sequence", "offset")}
    print(json.dumps(line | event_payload.decode(frame["kind"], payload), ensure_ascii=False))


def print_change_record(frame, payload):
    import change_payload  # what the payloads of change logs mean: Specs/ChangeLog.md
    line = {key: frame[key] for key in ("sequence", "offset")}
    try:
        readable = change_payload.decode(frame["kind"], payload)
    except change_payload.PayloadError as error:
        raise Refused(f"record {frame['sequence']}: {error}") from None
    print(json.dumps(line | readable, ensure_ascii=False))


SHOWN = {"--session": print_session_record, "--changes": print_change_record}


def verdict_of(data):
    """Totals and verdict alone: what a comparison with another reader needs."""
    try:
        _, totals, verdict = read(data)
        return totals | verdict
    except Refused as refusal:
        return {"ending": str(refusal)}


def contents(path):
    # Looked at before it is opened: opening a pipe waits, opening some devices has effects.
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise Refused("isDirectory")
    if not stat.S_ISREG(mode):
        raise Refused("notARegularFile")
    with open(path, "rb") as file:
        empty = os.fstat(file.fileno()).st_size == 0
        return b"" if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def main(arguments):
    show = print_record
    if arguments and arguments[0] in SHOWN:
        show, arguments = SHOWN[arguments[0]], arguments[1:]
    if not arguments or arguments[0].startswith("-") and arguments[0] != "--verdict":
        sys.exit(__doc__)
    try:
        if arguments[0] == "--verdict":
            for path in arguments[1:]:
                print(json.dumps(verdict_of(contents(path))))
            return 0
        data = contents(arguments[0])
        print(json.dumps(read_header(data)))
        _, totals, verdict = read(data, show)
    except (FileNotFoundError, NotADirectoryError) as error:
        print(error, file=sys.stderr)
        return 66
    except BrokenPipeError:
        raise
    except OSError as error:
        print(error, file=sys.stderr)
        return 74
    except Refused as error:
        print(f"{arguments[-1]}: {error}", file=sys.stderr)
        return 65
    print(json.dumps(totals | verdict))
    return {"clean": 0, "torn": 2, "undetermined": 2, "damaged": 65}[verdict["ending"]]


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
