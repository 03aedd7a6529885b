#!/usr/bin/env bash
# pandas 3.1.1: `read_json` rounds whole numbers above 2^53 if the column also has a null, whatever `dtype` says.
#
# Seen with numpy 2.4.6, on lines of JSON with the number 2^53 + 1 and the types UInt64, Int64 and string:
# - Without a null in the column, each type keeps the number.
# - With one null in the column, each of the three types gets 2^53: the type is applied to a column of floats.
# - Nothing warns, and the resulting column says UInt64, Int64 or string.
# So sequences, identifiers and times in nanoseconds need a file without nulls, or another reader.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check pandas==3.1.1 numpy==2.4.6

cat > program.py <<'PY'
import io
import warnings

import pandas

warnings.simplefilter("error")
print("pandas", pandas.__version__)
for others in ("1", "null"):
    for kind in ("UInt64", "Int64", "string"):
        lines = io.StringIO('{"n": 9007199254740993}\n{"n": %s}\n' % others)
        column = pandas.read_json(lines, lines=True, dtype={"n": kind})["n"]
        print(f"beside {others} as {column.dtype}: {column[0]}")
PY
venv/bin/python program.py > output
cat output
diff output - << 'END'
pandas 3.1.1
beside 1 as UInt64: 9007199254740993
beside 1 as Int64: 9007199254740993
beside 1 as string: 9007199254740993
beside null as UInt64: 9007199254740992
beside null as Int64: 9007199254740992
beside null as string: 9007199254740992.0
END
