"""Reads rows that mislead an engine that guesses types, with the columns that `--schema` writes, on each engine.

usage: schemas.py FOLDER    FOLDER has the rows and schemas of `ends` and `refreshes`
exit:  0 every engine returned the values that were written - 1 one did not
"""
import datetime
import json
import os
import sys

import duckdb
import pandas
import polars
from chdb import session

from answer import schema

# DuckDB guesses a type from so many rows.
SAMPLE = 20_480
# Each looks like a number, a date or a boolean, and is a text.
TEXTS = ["1.9", "1.10", "007", "2026-11-27", "true", "1e5"]


def rows(folder, name):
    """Returns one row of the fleet many times: optional columns are null first, then have texts that mislead."""
    with open(os.path.join(folder, name + ".jsonl"), encoding="utf-8") as lines:
        first = json.loads(lines.readline())
    optional = ["app", "user", "code", "status"] + (["login", "lengthMs"] if name == "ends" else ["durationMs"])
    empty = dict(first, **{column: None for column in optional})
    # pandas 3.1.1 rounds larger numbers in a column that also has nulls.
    number = {"login": 2**53 - 1, "lengthMs": 2**53 - 1, "durationMs": 7, "status": 503}
    full = [
        dict(first, **{column: number.get(column, text) for column in optional}, file=text) for text in TEXTS]
    return [empty] * (SAMPLE + 1) + full


def by_duckdb(path, text):
    columns = duckdb.sql(f"SELECT * FROM read_ndjson('{path}', columns={text})")
    return [dict(zip(columns.columns, row)) for row in columns.fetchall()]


def by_clickhouse(path, text):
    answer = session.Session().query(
        f"SELECT * FROM file('{path}', JSONEachRow, $${text}$$) SETTINGS date_time_input_format = 'best_effort', "
        "output_format_json_quote_64bit_integers = 0, date_time_output_format = 'iso'", "JSONEachRow").data()
    return [json.loads(line) for line in answer.splitlines()]


def by_polars(path, text):
    return polars.read_ndjson(path, schema=eval(text, {"pl": polars})).to_dicts()


def by_pandas(path, text):
    table = pandas.read_json(path, lines=True, dtype=json.loads(text))
    return [
        {name: None if pandas.isna(value) else value for name, value in zip(table.columns, row)}
        for row in table.itertuples(index=False)]


def plain(value):
    """Returns a time as it is written in the rows, and a number of numpy as one of Python."""
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"
    return value.item() if hasattr(value, "item") else value


def main(folder):
    failed = 0
    for name in ("ends", "refreshes"):
        given = rows(folder, name)
        path = os.path.join(os.path.abspath(folder), name + "-schema.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in given)
        for engine, read in (
                ("duckdb", by_duckdb), ("clickhouse", by_clickhouse), ("polars", by_polars), ("pandas", by_pandas)):
            # ClickHouse returns rows of several blocks in any order.
            found = sorted(repr([plain(row[column]) for column in given[0]]) for row in read(path, schema(
                folder, name, engine)))
            expected = sorted(repr(list(row.values())) for row in given)
            wrong = [pair for pair in zip(found, expected) if pair[0] != pair[1]]
            failed += bool(wrong) or len(found) != len(expected)
            print(f"{name} by {engine}: {len(found)} rows, {len(wrong)} differ")
            for pair in wrong[:2]:
                print("  found    {}\n  expected {}".format(*pair))
        os.remove(path)
    return failed


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(1 if main(sys.argv[1]) else 0)
