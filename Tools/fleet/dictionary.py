"""Measures how much shorter a journal would be with a dictionary of bytes that records often have.

usage: dictionary.py FOLDER      FOLDER is what `Tools/fleet/run --keep FOLDER` left. It is run by hand.
needs: pip install zstandard     a compressor that can be trained with a dictionary

A dictionary is trained with the payloads of 300 journals and tried on 300 others. Each payload is compressed
alone, since a record is appended alone. A payload that becomes longer is counted as it is.
"""
import os
import random
import re
import struct
import sys

import zstandard

FRAME = struct.Struct("<IIQIIIBBH")  # Specs/JournalFormat.md
WATERMARK = 0xFF
# What a frame needs at least: length, kind, batch, and a checksum over payload and the frame before.
SHORT_FRAME = 12


def payloads(path):
    with open(path, "rb") as file:
        data = file.read()
    place = 64
    while place + FRAME.size <= len(data):
        _, length, _, _, _, _, kind, _, _ = FRAME.unpack_from(data, place)
        if kind == 0:
            return
        yield kind, data[place + FRAME.size:place + FRAME.size + length]
        place += FRAME.size + padded(length)


def padded(length):
    return (length + 7) // 8 * 8


def main(folder):
    files = sorted(
        os.path.join(where, name) for where, _, names in os.walk(os.path.join(folder, "journals")) for name in names
        if name.endswith(".journal"))
    random.Random(1).shuffle(files)
    training = [payload for file in files[:300] for kind, payload in payloads(file) if kind != WATERMARK]
    compressors = {}
    for size in (4096, 16384):
        compressors[size] = zstandard.ZstdCompressor(
            level=19, dict_data=zstandard.train_dictionary(size, training), write_content_size=False,
            write_checksum=False, write_dict_id=False)
    totals, count = {}, 0

    def add(name, bytes_):
        totals[name] = totals.get(name, 0) + bytes_

    for file in files[300:600]:
        seen = set()
        for _, payload in payloads(file):
            count += 1
            add("payload", len(payload))
            add("format 1: frame of 32 bytes, payload, padding", FRAME.size + padded(len(payload)))
            short = len(payload)
            for text in re.findall(rb"[\x20-\x7e]{5,}", payload):
                short -= len(text) - 2 if text in seen else 0
                seen.add(text)
            add("the same, a text of this file that repeats as 2 bytes", FRAME.size + padded(short))
            for size, compressor in compressors.items():
                packed = min(len(payload), len(compressor.compress(payload)))
                add(f"the same, payload with a dictionary of {size // 1024} KiB", FRAME.size + padded(packed))
                if size == 16384:
                    add(f"a frame of {SHORT_FRAME} bytes, that payload, no padding", SHORT_FRAME + packed)
    print(f"{count:,} records of 300 journals; bytes a record:")
    whole = totals["format 1: frame of 32 bytes, payload, padding"]
    for name, total in totals.items():
        print(f"  {total / count:5.1f}  {100 * total / whole:3.0f} %  {name}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
