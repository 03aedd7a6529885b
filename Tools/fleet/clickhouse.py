"""Answers the five questions about a fleet on ClickHouse. It is run by hand: CI does not install ClickHouse.

usage: clickhouse.py FOLDER    FOLDER is what `Tools/fleet/run --keep FOLDER` left: rows, Parquet files, the truth
needs: pip install chdb        ClickHouse as a library
exit:  0 every answer is right - 1 one is not

The queries are those of DuckDB; DIALECT lists what ClickHouse names differently.
"""
import json
import os
import sys
import time

from chdb import session

import truth
from answer import ENDS, HERE, REFRESHES, compare

TYPES = {
    "UTINYINT": "UInt8", "USMALLINT": "UInt16", "UINTEGER": "UInt32", "UBIGINT": "UInt64", "BIGINT": "Int64",
    "BOOLEAN": "Bool", "VARCHAR": "String", "TIMESTAMP": "DateTime64(3, 'UTC')"}
# Columns with few different values.
CLOSED = {"app", "platform", "method", "state", "reason", "cause", "certainty", "trigger", "outcome", "failure"}
ORDER = {"ends": ("app", "began"), "refreshes": ("app", "time")}
DIALECT = {
    "strftime(": "formatDateTime(",
    # ClickHouse's quantileExact takes another rank if the count times 0.95 is whole.
    "quantile_disc(durationMs, 0.95)": "arraySort(groupArray(durationMs))[toUInt64(ceil(0.95 * count()))]"}


def kind(table, column, type_):
    if column in ORDER[table]:
        return f"LowCardinality({TYPES[type_]})" if column in CLOSED else TYPES[type_]
    nullable = f"Nullable({TYPES[type_]})"
    return f"LowCardinality({nullable})" if column in CLOSED else nullable


def load(base, folder, table, columns):
    """Loads the Parquet files into a table, and the lines of JSON into another one, to measure both."""
    names = ", ".join(f"`{name}`" for name in columns)
    fields = ", ".join(f"`{name}` {kind(table, name, type_)}" for name, type_ in columns.items())
    times = []
    for name, source in (
            (table, f"file('{folder}/{table}/*/*.parquet', Parquet)"),
            (table + "_lines", f"file('{folder}/{table}.jsonl', JSONEachRow)")):
        base.query(
            f"CREATE TABLE fleet.{name} ({fields}) ENGINE = MergeTree ORDER BY ({', '.join(ORDER[table])})")
        start = time.monotonic()
        base.query(
            f"INSERT INTO fleet.{name} SELECT {names} FROM {source} SETTINGS date_time_input_format = 'best_effort'")
        times.append(time.monotonic() - start)
        base.query(f"OPTIMIZE TABLE fleet.{name} FINAL")
    rows, size = base.query(
        "SELECT sum(rows), sum(bytes_on_disk) FROM system.parts "
        f"WHERE database = 'fleet' AND table = '{table}' AND active").data().strip().split(",")
    print(
        f"{table}: {int(rows):,} rows, {int(size) / int(rows):.1f} bytes a row, loaded in {times[0]:.2f} s from "
        f"Parquet, in {times[1]:.2f} s from JSON")


def main(folder):
    base = session.Session()
    print("ClickHouse", base.query("SELECT version()", "TSVRaw").data().strip())
    base.query("CREATE DATABASE fleet ENGINE = Atomic")
    for table, columns in (("ends", ENDS), ("refreshes", REFRESHES)):
        load(base, os.path.abspath(folder), table, columns)
    base.query("USE fleet")

    def run(query):
        for ours, theirs in DIALECT.items():
            query = query.replace(ours, theirs)
        query = query.rstrip().rstrip(";")
        start = time.monotonic()
        answer = base.query(query + " SETTINGS output_format_json_quote_64bit_integers = 0", "JSONCompact").data()
        span = time.monotonic() - start
        result = json.loads(answer)
        return [column["name"] for column in result["meta"]], [tuple(row) for row in result["data"]], span

    return compare(run, *truth.read(os.path.join(folder, "truth.jsonl")))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(1 if main(sys.argv[1]) else 0)
