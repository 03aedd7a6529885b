"""Loads the rows of a fleet into DuckDB, writes them as partitioned Parquet, answers the five questions from
there, and compares each answer with what was drawn.

usage: answer.py FOLDER [--self-test]    FOLDER has truth.jsonl, and the rows and schemas
exit:  0 every answer is right - 1 one is not
"""
import collections
import decimal
import os
import sys
import time

import duckdb

import truth

HERE = os.path.dirname(os.path.abspath(__file__))


def schema(folder, name, engine):
    """Returns what `sessionreplay NAME --schema ENGINE` printed."""
    with open(os.path.join(folder, f"{name}.{engine}"), encoding="utf-8") as file:
        return file.read().strip()


def load(base, folder, name, day):
    """Writes the rows as Parquet, a folder for each day, and makes a view of them; returns rows and bytes."""
    lines, parquet = os.path.join(folder, name + ".jsonl"), os.path.join(folder, name)
    source = f"read_ndjson('{lines}', columns={schema(folder, name, 'duckdb')})"
    # In two runs, as for journals that arrive later on a day. OVERWRITE_OR_IGNORE would give both runs' file of a
    # day one name (DuckDB 2.0.1), so that the second replaces the first. APPEND never does.
    for run in (0, 1):
        base.execute(
            f"COPY (SELECT *, strftime(coalesce({day}), '%Y-%m-%d') AS day FROM {source} "
            f"WHERE hash(journal) % 2 = {run}) TO '{parquet}' (FORMAT parquet, PARTITION_BY (day), APPEND)")
    base.execute(
        f"CREATE VIEW {name} AS SELECT * EXCLUDE (day) FROM read_parquet('{parquet}/*/*.parquet', "
        "hive_partitioning=true)")
    size = sum(
        os.path.getsize(os.path.join(where, file)) for where, _, files in os.walk(parquet) for file in files)
    count = base.execute(f"SELECT count(*) FROM {name}").fetchone()[0]
    written = base.execute(f"SELECT count(*) FROM {source}").fetchone()[0]
    assert count == written, f"{name}: {count} of {written} rows are in the Parquet files"
    return count, os.path.getsize(lines), size


def table(names, rows, most=40):
    cells = [list(names)] + [["" if cell is None else str(cell) for cell in row] for row in rows[:most]]
    widths = [max(len(row[place]) for row in cells) for place in range(len(names))]
    for row in cells:
        print("  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())
    if len(rows) > most:
        print(f"  … {len(rows) - most} rows more")


def plain(cell):
    """Returns a number as one that any other engine's number can equal, and all else as text."""
    return float(cell) if isinstance(cell, (int, float, decimal.Decimal)) else str(cell)


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
        if [tuple(map(plain, row)) for row in given] != [tuple(map(plain, row)) for row in expected]:
            failed += 1
            print(f"  WRONG: of {len(given)} rows and {len(expected)} expected ones, these differ:")
            compared_names = [names[place] for place in compared] if compared else names
            table(compared_names, list(set(map(tuple, given)) ^ set(map(tuple, expected))), 10)
    print(f"\n{len(truth.QUESTIONS) - failed} passed, {failed} failed")
    return failed


def main(folder, is_self_test):
    base = duckdb.connect()
    for name, day in (("ends", "ended, began"), ("refreshes", "time")):
        start = time.monotonic()
        count, lines, parquet = load(base, folder, name, day)
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
