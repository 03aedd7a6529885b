"""Answers the five questions about a fleet on ClickHouse.

usage: clickhouse.py FOLDER    FOLDER is what answer.py left: rows, schemas, Parquet files, the truth
needs: pip install chdb        ClickHouse as a library
exit:  0 every answer is right - 1 one is not

The queries are those of DuckDB; DIALECT lists what ClickHouse names differently.
"""
import json
import os
import re
import sys
import time

from chdb import session

import truth
from answer import compare, schema

ORDER = {"ends": "(app, began)", "refreshes": "(app, time)"}
DIALECT = {
    "strftime(": "formatDateTime(",
    # ClickHouse's quantileExact takes another rank if the count times 0.95 is whole.
    "quantile_disc(durationMs, 0.95)": "arraySort(groupArray(durationMs))[toUInt64(ceil(0.95 * count()))]"}


def load(base, folder, table):
    """Loads the Parquet files into a table, and the lines of JSON into another one, to measure both."""
    fields = schema(folder, table, "clickhouse")
    names = ", ".join(re.findall("`\\w+`", fields))
    times = []
    for name, source in (
            (table, f"file('{folder}/{table}/*/*.parquet', Parquet)"),
            (table + "_lines", f"file('{folder}/{table}.jsonl', JSONEachRow, $${fields}$$)")):
        base.query(
            f"CREATE TABLE fleet.{name} ({fields}) ENGINE = MergeTree "
            f"ORDER BY {ORDER[table]} SETTINGS allow_nullable_key = 1")
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
    for table in ORDER:
        load(base, os.path.abspath(folder), table)
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
