"""Judges bugs that a seed draws from the source: builds a copy with all of them, and runs tests with each.

Everything is written to a file as it becomes known, so that a run which was interrupted goes on.
"""

import collections
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import threading
import time

from draw import Draw, Site, apply, module_of, scan
from package import ROOT, TREE, WORK, Problem, build_command, forget_cases, run_tests, test_bundle, write_tree

# The modules that bugs are drawn from, and the test targets that belong to each.
TARGETS = {
    "SessionCore": ["SessionCoreTests", "SessionPropertyTests"],
    "SessionJournal": ["SessionJournalTests", "JournalPropertyTests"],
    "SessionKit": ["SessionKitTests"],
    "SessionHTTP": ["SessionKitTests"],
    "SessionChangeQueue": ["SessionCoreTests", "SessionPropertyTests", "SessionKitTests"],
    "SessionChanges": ["SessionKitTests"],
    "SessionJSON": ["SessionKitTests", "ReplayCommandsTests"],
}
ROUNDS = ["properties and examples", "own tests", "all tests"]
ERROR = re.compile(r"^(?P<file>/.*?\.swift):(?P<line>\d+):\d+: error: (?P<text>.*)$", re.M)
# One in so many that are drawn is a spare, since a few do not compile.
SPARES = 6


class Record:
    """The file of a draw: one object of JSON a line."""

    def __init__(self, path):
        self.path = path
        self.lock = threading.Lock()
        self.lines = []
        if path.exists():
            text = path.read_text(encoding="utf-8")
            self.lines = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def add(self, **line):
        with self.lock:
            self.lines.append(line)
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")

    def find(self, key):
        """Returns the last line of each value of a key."""
        return {line[key]: line for line in list(self.lines) if key in line}


def find_sites():
    """Returns the sites of all modules, and the text of each file."""
    sites, texts = [], {}
    for module in TARGETS:
        for path in sorted((ROOT / "Sources" / module).rglob("*.swift")):
            name = str(path.relative_to(ROOT))
            texts[name] = path.read_text(encoding="utf-8")
            sites += scan(name, texts[name])
    return sites, texts


def line_of(site, texts):
    return texts[site.file].count("\n", 0, site.start) + 1


class Sample:
    """The drawn bugs of a number and a seed, and what is known of them."""

    def __init__(self, count, seed):
        self.count = count
        self.record = Record(WORK / f"drawn-{seed}-{count}.jsonl")
        sites, self.texts = find_sites()
        self.draw = Draw(sites, seed)
        self.sites = {}
        self.read_sites()
        self.dropped = set(self.record.find("dropped"))
        if not self.record.lines:
            commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True)
            self.record.add(draw=count, seed=seed, commit=commit.stdout.strip(), sites=len(sites))

    def read_sites(self):
        """Takes the sites from the file; raises a Problem if the source has changed."""
        for number, line in self.record.find("site").items():
            site = self.draw.next()
            if site is None or [site.file, site.start, site.original] != [
                    line["file"], line["start"], line["original"]]:
                raise Problem(
                    f"{self.record.path} was drawn from other sources: check out the commit of its first line, "
                    "or move it away")
            self.sites[number] = site

    def extend(self):
        """Draws until the sample and its spares are complete."""
        wanted = self.count + self.count // SPARES + 1
        while len(self.sites) - len(self.dropped) < wanted:
            site = self.draw.next()
            if site is None:
                break
            number = len(self.sites) + 1
            self.sites[number] = site
            self.record.add(
                site=number, file=site.file, line=line_of(site, self.texts), operator=site.operator,
                start=site.start, original=site.original, mutated=site.mutated)

    @property
    def kept(self):
        return [number for number in sorted(self.sites) if number not in self.dropped]

    @property
    def judged(self):
        """The numbers of the sample: the first that compile."""
        return self.kept[:self.count]

    def place(self, number):
        site = self.sites[number]
        return f"{site.file.removeprefix('Sources/')}:{line_of(site, self.texts)}"

    def means(self, number):
        site = self.sites[number]
        original, mutated = (" ".join(text.split()) for text in (site.original, site.mutated))
        change = {"left-out": "is left out", "swallowed": "loses its error"}.get(
            site.operator, f"is `{mutated}`")
        return f"`{original}` {change}"

    def build(self):
        """Builds the copy; drops what does not compile, and draws others for it."""
        self.extend()
        while True:
            changed, places = {}, {}
            for file in {self.sites[number].file for number in self.kept}:
                here = [(n, self.sites[n]) for n in self.kept if self.sites[n].file == file]
                changed[file], places[file] = apply(self.texts[file], here)
            write_tree(changed, TARGETS)
            start = time.monotonic()
            answer = subprocess.run(
                build_command(), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, errors="replace")
            if answer.returncode == 0:
                print(f"built in {time.monotonic() - start:.0f} s", flush=True)
                return test_bundle()
            if not self.drop(answer.stdout, places):
                raise Problem(f"the copy does not build:\n{answer.stdout[-4000:]}")
            self.extend()

    def drop(self, output, places):
        """Drops the bugs at the places of the compiler's errors; returns how many."""
        before = len(self.dropped)
        for found in ERROR.finditer(output):
            file = os.path.relpath(found.group("file"), TREE)
            # The first line of the copy's file is an import.
            line = int(found.group("line")) - 1
            lines = {n: at for n, at in places.get(file, {}).items() if n not in self.dropped}
            numbers = [number for number, at in lines.items() if line in at]
            # A compiler may report the effect of an edit at another line.
            for number in numbers or lines:
                self.dropped.add(number)
                self.record.add(dropped=number, error=found.group("text"))
                print(f"{number}: {self.place(number)} does not compile: {found.group('text')}", flush=True)
        return len(self.dropped) - before


# The tests


def suite_expression(suites):
    return "^(" + "|".join(re.escape(suite) for suite in suites) + ")/"


def test_digest(target):
    """Returns a digest of the files of a test target in the copy."""
    digest = hashlib.sha256()
    for path in sorted((TREE / "Tests" / target).rglob("*.swift")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


class Judge:
    """Runs the tests that reach a bug, until one finds it.

    A run of all tests takes minutes, and most suites never execute the line of a given bug. So each suite runs once
    with no bug active, and notes the bugs that it reaches and its time. Quick suites judge first. A bug that no suite
    reaches survives at once: its line has no test. Suites that look at the source fail in the copy, and are left out.
    """

    def __init__(self, sample, bundle, groups, jobs):
        self.sample = sample
        self.bundle = bundle
        self.groups = groups
        self.jobs = jobs
        # The sweeps run as on each day unless the environment says otherwise.
        self.variables = {"SESSION_SWEEP": os.environ.get("SESSION_SWEEP", "")}
        self.suites = {}
        # What is known of bugs that an interrupted run has not judged.
        self.passed = {}

    def measure(self):
        """Runs each suite with no bug active, and notes how long it takes and which bugs it reaches."""
        answer = subprocess.run(
            [str(self.bundle), "--testing-library", "swift-testing", "--list-tests"],
            capture_output=True, text=True, cwd=TREE)
        names = sorted({line.split("/")[0] for line in answer.stdout.splitlines() if "/" in line})
        names = [name for name in names if not name.startswith("SourceLayoutTests.")]
        if not names:
            raise Problem("the test bundle lists no test")
        targets = {name.split(".")[0] for name in names}
        digests = {target: test_digest(target) for target in targets}
        known = self.sample.record.find("suite")
        numbers = self.sample.judged
        missing = [name for name in names if known.get(name, {}).get("digest") != digests[name.split(".")[0]]
                   or known[name]["numbers"] != numbers[-1]]
        start = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            list(pool.map(lambda name: self.measure_suite(name, digests[name.split(".")[0]], numbers), missing))
        known = self.sample.record.find("suite")
        self.suites = {name: known[name] for name in names if not known[name]["fails"]}
        for name in set(names) - set(self.suites):
            print(f"left out, since it fails with no bug active: {name}: {known[name]['fails']}")
        print(f"{len(self.suites)} suites, {len(missing)} of them measured in {time.monotonic() - start:.0f} s",
              flush=True)

    def measure_suite(self, name, digest, numbers):
        path = WORK / f"reached-{name}.txt"
        path.unlink(missing_ok=True)
        start = time.monotonic()
        outcome = run_tests(
            self.bundle, suite_expression([name]), 0, 600, variables={**self.variables, "MUTANTS_REACHED": str(path)})
        reached = set(map(int, path.read_text().split())) if path.exists() else set()
        path.unlink(missing_ok=True)
        self.sample.record.add(
            suite=name, digest=digest, numbers=numbers[-1], fails=outcome.cause,
            seconds=round(time.monotonic() - start, 2), reached=sorted(reached))

    def rounds(self, number):
        """Returns the rounds of a bug: name and suites, each suite once."""
        module = module_of(self.sample.sites[number].file)
        rest = [name for name, suite in self.suites.items() if number in suite["reached"]]
        own = re.compile(r"^(?:" + "|".join(TARGETS[module]) + r")\.")
        for name, expression in zip(ROUNDS, [re.compile(self.groups[module]), own, re.compile("")]):
            yield name, [suite for suite in rest if expression.search(suite)]
            rest = [suite for suite in rest if not expression.search(suite)]

    def chunks(self, suites):
        """Returns the suites in chunks, the quick ones first."""
        chunk, budget, seconds = [], 4, 0
        for suite in sorted(suites, key=lambda name: self.suites[name]["seconds"]):
            if chunk and seconds + self.suites[suite]["seconds"] > budget:
                yield chunk
                chunk, budget, seconds = [], 4 * budget, 0
            chunk.append(suite)
            seconds += self.suites[suite]["seconds"]
        if chunk:
            yield chunk

    def judge(self, number, names):
        """Runs tests of these rounds with this bug active, and records the first that finds it."""
        start = time.monotonic()
        before = self.passed.get(number, {"suites": 0, "seconds": 0, "rounds": []})
        tried = before["suites"]
        for name, suites in self.rounds(number):
            if name not in names or name in before["rounds"]:
                continue
            for chunk in self.chunks(suites):
                tried += len(chunk)
                # With no bug active the run ends well within the limit, so a later end is a hang.
                limit = 60 + 3 * sum(self.suites[suite]["seconds"] for suite in chunk)
                killer = self.killer(number, suite_expression(chunk), limit)
                if killer:
                    return self.note(number, killer, name, tried, before["seconds"], start)
        if names[-1] == ROUNDS[-1]:
            return self.note(number, None, None, tried, before["seconds"], start)
        self.passed[number] = {
            "suites": tried, "seconds": round(before["seconds"] + time.monotonic() - start, 1), "rounds": names}
        self.sample.record.add(passed=number, **self.passed[number])

    def judge_by(self, number, expression):
        """Runs these tests with this bug active."""
        start = time.monotonic()
        return self.note(number, self.killer(number, expression, 600), expression, 1, 0, start)

    def killer(self, number, expression, limit):
        outcome = run_tests(self.bundle, expression, number, limit, variables=self.variables)
        forget_cases()
        if outcome.passed:
            return None
        if "exit 0" in outcome.cause:
            raise Problem(f"no test matches {expression}")
        if outcome.is_late:
            return f"hangs: {outcome.cause}"
        # A test that waits may fail on a busy machine, so it must fail twice.
        twice = run_tests(self.bundle, expression, number, limit, variables=self.variables)
        forget_cases()
        return None if twice.passed else outcome.cause

    def note(self, number, killer, round_name, tried, before, start):
        seconds = round(before + time.monotonic() - start, 1)
        self.sample.record.add(judged=number, killer=killer, round=round_name, suites=tried, seconds=seconds)
        verdict = killer or ("SURVIVES" if tried else "SURVIVES: not reached")
        print(f"{number}: {self.sample.place(number)}: {verdict} ({seconds:.0f} s)", flush=True)


def print_summary(sample):
    """Prints the survivors, and how many were found by what; returns the number of survivors."""
    known = sample.record.find("judged")
    verdicts = {number: known[number] for number in sample.judged if number in known}
    survivors = [number for number, verdict in verdicts.items() if not verdict["killer"]]
    print("\n| Bug | Place | What it does | Reached by |\n| --- | --- | --- | --- |")
    for number in survivors:
        reached = f"{verdicts[number]['suites']} suites" if verdicts[number]["suites"] else "no test"
        print(f"| {number} | {sample.place(number)} | {sample.means(number)} | {reached} |")
    for title, key in [("by", lambda n: verdicts[n]["round"] if n not in survivors else "no test"),
                       ("in", lambda n: module_of(sample.sites[n].file)),
                       ("operator", lambda n: sample.sites[n].operator)]:
        all_of = collections.Counter(key(number) for number in verdicts)
        alive = collections.Counter(key(number) for number in survivors)
        print(f"{title}: " + ", ".join(f"{name} {count} ({alive[name]} survive)" for name, count in all_of.items()))
    print(f"{len(verdicts)} mutants, {len(survivors)} survive")
    return len(survivors)


def judge_drawn(count, seed, groups, jobs, only=(), tests=None, again=False, lists=False):
    """Draws bugs and judges them; returns how many survive."""
    sample = Sample(count, seed)
    if lists:
        return print_summary(sample)
    bundle = sample.build()
    judge = Judge(sample, bundle, groups, jobs)
    if not again:
        judge.passed = sample.record.find("passed")
    known = sample.record.find("judged")
    if not tests:
        judge.measure()
    numbers = [number for number in sample.judged
               if (number in only if only else number not in known or again and not known[number]["killer"])]
    if tests:
        run_all(lambda number: judge.judge_by(number, tests), numbers, jobs)
        return print_summary(sample)
    # The last round takes longest, so first all bugs go through the others.
    start = len(sample.record.lines)
    for names in (ROUNDS[:-1], ROUNDS[-1:]):
        found = {line["judged"] for line in sample.record.lines[start:] if "judged" in line}
        run_all(lambda number: judge.judge(number, names), [n for n in numbers if n not in found], jobs)
    return print_summary(sample)


def run_all(work, numbers, jobs):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for future in [pool.submit(work, number) for number in numbers]:
            future.result()
