"""Answers the five questions from what was drawn, without journals and without SQL."""
import collections
import datetime
import json
import math

DAY = 86_400_000
UTC = datetime.timezone.utc


def read(path):
    ends, refreshes = [], []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if not row["damaged"]:
                (ends if row["kind"] == "end" else refreshes).append(row)
    return ends, refreshes


def date(milliseconds):
    return datetime.datetime.fromtimestamp(milliseconds / 1000, UTC).date()


def percent(part, whole, digits):
    return round(100.0 * part / whole, digits)


def refreshes_by_version(ends, refreshes):
    groups = collections.defaultdict(collections.Counter)
    for row in refreshes:
        groups[row["app"]][row["outcome"]] += 1
    rows = [
        (app, count.total(), count["lost"], count["failed"],
         percent(count["lost"] + count["failed"], count.total(), 2))
        for app, count in groups.items()]
    return sorted(rows, key=lambda row: (-row[4], row[0]))


def ends_by_cause_and_version(ends, refreshes):
    groups = collections.defaultdict(collections.Counter)
    for row in ends:
        if row["ended"] is not None:
            groups[row["app"]][row["cause"]] += 1
    rows = [
        (app, cause, number, percent(number, count.total(), 1))
        for app, count in groups.items() for cause, number in count.items()]
    return sorted(rows, key=lambda row: (row[0], -row[2], row[1]))


def refresh_p95_by_day(ends, refreshes):
    days = collections.defaultdict(list)
    for row in refreshes:
        if row["outcome"] == "succeeded":
            days[date(row["time"])].append(row["duration"])
    return [
        (day.isoformat(), len(spans), sorted(spans)[math.ceil(0.95 * len(spans)) - 1])
        for day, spans in sorted(days.items())]


def users_with_many_ends(ends, refreshes):
    """The users have numbers here and pseudonyms in the rows, so only weeks and counts are compared."""
    weeks = collections.Counter()
    for row in ends:
        if row["ended"] is not None and row["cause"] != "user-logout":
            day = date(row["ended"])
            monday = day - datetime.timedelta(days=day.weekday())
            weeks[monday.isoformat(), row["user"]] += 1
    return sorted((week, count) for (week, _), count in weeks.items() if count > 3)


def funnel(ends, refreshes):
    groups = collections.defaultdict(lambda: [0] * 5)
    for row in ends:
        length = math.inf if row["ended"] is None else row["ended"] - row["began"]
        steps = groups[row["app"]]
        steps[0] += 1
        steps[1] += row["refreshed"]
        steps[2] += length >= DAY
        steps[3] += length >= 7 * DAY
        steps[4] += row["ended"] is not None and row["cause"] != "user-logout"
    return [(app, *steps) for app, steps in sorted(groups.items())]


# The name of a query, what answers it here, and which of its columns are compared.
QUESTIONS = [
    ("1-refreshes-by-version", refreshes_by_version, None),
    ("2-ends-by-cause-and-version", ends_by_cause_and_version, None),
    ("3-refresh-p95-by-day", refresh_p95_by_day, None),
    ("4-users-with-many-ends", users_with_many_ends, (0, 2)),
    ("5-funnel", funnel, None),
]
