"""Loads the rows of a fleet into DuckDB, writes them as partitioned Parquet, answers the five questions from
there, and compares each answer with what was drawn.

usage: answer.py FOLDER [--self-test]    FOLDER has ends.jsonl, refreshes.jsonl and truth.jsonl
exit:  0 every answer is right - 1 one is not
"""
import collections
import os
import sys
import time

import duckdb

import truth

ENDS = {
    "v": "UTINYINT", "journal": "VARCHAR", "user": "VARCHAR", "app": "VARCHAR", "platform": "VARCHAR",
    "sequence": "UBIGINT", "login": "UBIGINT", "method": "VARCHAR", "began": "TIMESTAMP", "ended": "TIMESTAMP",
    "lengthMs": "BIGINT", "state": "VARCHAR", "reason": "VARCHAR", "cause": "VARCHAR", "certainty": "VARCHAR",
    "code": "VARCHAR", "status": "USMALLINT", "refreshes": "UINTEGER", "failures": "UINTEGER",
    "lostRequests": "UINTEGER", "p50Ms": "UINTEGER", "p95Ms": "UINTEGER", "damaged": "BOOLEAN",
    "file": "VARCHAR"}
REFRESHES = {
    "v": "UTINYINT", "journal": "VARCHAR", "user": "VARCHAR", "app": "VARCHAR", "platform": "VARCHAR",
    "request": "UBIGINT", "login": "UBIGINT", "time": "TIMESTAMP", "generation": "UBIGINT", "trigger": "VARCHAR",
    "attempt": "UINTEGER", "outcome": "VARCHAR", "failure": "VARCHAR", "code": "VARCHAR", "status": "USMALLINT",
    "durationMs": "BIGINT", "rotated": "BOOLEAN", "process": "UINTEGER", "damaged": "BOOLEAN", "file": "VARCHAR"}
HERE = os.path.dirname(os.path.abspath(__file__))


def load(base, folder, name, columns, day):
    """Writes the rows as Parquet, a folder for each day, and makes a view of them; returns rows and bytes."""
    types = ", ".join(f"'{column}': '{kind}'" for column, kind in columns.items())
    lines, parquet = os.path.join(folder, name + ".jsonl"), os.path.join(folder, name)
    # An unknown column would be left out silently, so the names are compared first.
    found = [row[0] for row in base.execute(
        f"SELECT DISTINCT unnest(json_keys(json)) FROM read_ndjson_objects('{lines}')").fetchall()]
    assert sorted(found) == sorted(columns), f"{name}: columns {sorted(set(found) ^ set(columns))} differ"
    base.execute(
        f"COPY (SELECT *, strftime(coalesce({day}), '%Y-%m-%d') AS day FROM read_ndjson('{lines}', "
        f"columns={{{types}}})) TO '{parquet}' (FORMAT parquet, PARTITION_BY (day), OVERWRITE_OR_IGNORE)")
    base.execute(
        f"CREATE VIEW {name} AS SELECT * EXCLUDE (day) FROM read_parquet('{parquet}/*/*.parquet', "
        "hive_partitioning=true)")
    size = sum(
        os.path.getsize(os.path.join(where, file)) for where, _, files in os.walk(parquet) for file in files)
    return base.execute(f"SELECT count(*) FROM {name}").fetchone()[0], os.path.getsize(lines), size


def table(names, rows, most=40):
    cells = [list(names)] + [["" if cell is None else str(cell) for cell in row] for row in rows[:most]]
    widths = [max(len(row[place]) for row in cells) for place in range(len(names))]
    for row in cells:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    if len(rows) > most:
        print(f"  … {len(rows) - most} rows more")


def compare(run, ends, refreshes):
    """Asks the five questions by `run`, which returns names, rows and seconds; returns how many answers are wrong."""
    failed = 0
    for name, answer, compared in truth.QUESTIONS:
        with open(os.path.join(HERE, "queries", name + ".sql"), encoding="utf-8") as file:
            query = file.read()
        names, rows, span = run(query)
        print(f"\n{query.splitlines()[0][3:]}  ({name}.sql, {span * 1000:.0f} ms)")
        table(names, rows)
        given = [tuple(row[place] for place in compared) for row in rows] if compared else rows
        given = sorted(given) if compared else given
        expected = answer(ends, refreshes)
        if [tuple(map(str, row)) for row in given] != [tuple(map(str, row)) for row in expected]:
            failed += 1
            print(f"  WRONG: of {len(given)} rows and {len(expected)} expected ones, these differ:")
            compared_names = [names[place] for place in compared] if compared else names
            table(compared_names, list(set(map(tuple, given)) ^ set(map(tuple, expected))), 10)
    print(f"\n{len(truth.QUESTIONS) - failed} passed, {failed} failed")
    return failed


def main(folder, is_self_test):
    base = duckdb.connect()
    for name, columns, day in (("ends", ENDS, "ended, began"), ("refreshes", REFRESHES, "time")):
        start = time.monotonic()
        count, lines, parquet = load(base, folder, name, columns, day)
        span = time.monotonic() - start
        print(
            f"{name}: {count:,} rows, {lines / max(count, 1):.0f} bytes a row as JSON, "
            f"{parquet / max(count, 1):.1f} as Parquet, loaded in {span:.2f} s")
    ends, refreshes = truth.read(os.path.join(folder, "truth.jsonl"))
    if is_self_test:
        # Without the user with the most ends and without the slow day, each answer must differ.
        users = collections.Counter(row["user"] for row in ends if row["ended"] is not None)
        ends = [row for row in ends if row["user"] != users.most_common(1)[0][0]]
        refreshes = [row for row in refreshes if row["duration"] is None or row["duration"] < 2000]

    def run(query):
        start = time.monotonic()
        result = base.execute(query)
        rows = result.fetchall()
        return [column[0] for column in result.description], rows, time.monotonic() - start

    return compare(run, ends, refreshes)


if __name__ == "__main__":
    wrong = main(sys.argv[1], "--self-test" in sys.argv[2:])
    if "--self-test" in sys.argv[2:]:
        sys.exit(0 if wrong == len(truth.QUESTIONS) else 1)
    sys.exit(1 if wrong else 0)
