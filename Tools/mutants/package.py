"""The copy of the package that holds seeded bugs: its files, its build and runs of its tests.

The copy is built once with all of the bugs, and all are inactive. The environment variable MUTANT activates one
of them for a run.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORK = ROOT / ".build" / "mutants"
TREE = WORK / "tree"
BUILD = WORK / "build"
COPIED = ["Package.swift", "README.md", "Sources", "Tests", "Tools", "Specs"]

HEADER = """\
/// Whether the seeded bug of this number is awake; the environment variable MUTANT names it.
int mutant_active(int number);
"""
SOURCE = """\
#include "CMutants.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { highest = 4095 };
static int awake;
static const char *reached_file;
static atomic_bool reached[highest + 1];

// Before any thread: nothing races for the variables.
__attribute__((constructor)) static void read_environment(void) {
  const char *text = getenv("MUTANT");
  awake = text ? atoi(text) : 0;
  reached_file = getenv("MUTANTS_REACHED");
}

// The file is opened for each number, so that tests which count open files see none. The code around a bug may
// read errno after this call.
static void note(int number) {
  int error = errno;
  FILE *file = fopen(reached_file, "a");
  if (file) {
    fprintf(file, "%d\\n", number);
    fclose(file);
  }
  errno = error;
}

int mutant_active(int number) {
  if (reached_file && number <= highest && !reached[number] && !atomic_exchange(&reached[number], 1)) {
    note(number);
  }
  return number == awake;
}
"""
MANIFEST = """
package.targets.append(.target(name: "CMutants"))
for target in package.targets where %s.contains(target.name) {
  target.dependencies.append("CMutants")
}
"""


class Problem(Exception):
    """Why the mutants cannot be judged."""


# The tree


def tree_files():
    """Returns the files of the copy: all that git tracks, and untracked ones that it does not ignore."""
    answer = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *COPIED],
        cwd=ROOT, check=True, capture_output=True)
    names = answer.stdout.decode().split("\0")
    return sorted({name for name in names if name and (ROOT / name).is_file()})


def write_tree(changed, modules):
    """Updates the copy, in which these files have another text, and the targets of these names can call
    mutant_active. Files that did not change are not written, so that they are not built again.
    """
    wanted = {name: (ROOT / name).read_bytes() for name in tree_files()}
    for name, text in changed.items():
        wanted[name] = ("internal import CMutants\n" + text).encode()
    names = "[" + ", ".join(f'"{name}"' for name in modules) + "]"
    wanted["Package.swift"] += (MANIFEST % names).encode()
    wanted["Sources/CMutants/include/CMutants.h"] = HEADER.encode()
    wanted["Sources/CMutants/CMutants.c"] = SOURCE.encode()
    for path in sorted(TREE.rglob("*")) if TREE.exists() else []:
        if path.is_file() and str(path.relative_to(TREE)) not in wanted:
            path.unlink()
    for name, content in wanted.items():
        path = TREE / name
        if path.is_file() and path.read_bytes() == content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        shutil.copymode(ROOT / name if (ROOT / name).is_file() else Path(__file__), path)


def build():
    """Builds all mutants at once; returns the test bundle."""
    start = time.monotonic()
    if subprocess.run(build_command(), stdin=subprocess.DEVNULL).returncode != 0:
        raise Problem("the tree with the mutants asleep does not build")
    print(f"built in {time.monotonic() - start:.0f} s", flush=True)
    return test_bundle()


def build_product(name):
    """Builds one program of the copy, with all mutants in it."""
    command = ["swift", "build", "--product", name, "--package-path", str(TREE), "--scratch-path", str(BUILD)]
    print("$", " ".join(command), flush=True)
    if subprocess.run(command, stdin=subprocess.DEVNULL).returncode != 0:
        raise Problem("the program with the mutants asleep does not build")


def build_command():
    """Returns the command that builds the copy, which it prints."""
    command = ["swift", "build", "--build-tests", "--package-path", str(TREE),
               "--scratch-path", str(BUILD)]
    print("$", " ".join(command), flush=True)
    return command


def test_bundle():
    """Returns the test bundle of the copy's build."""
    bundles = list((BUILD / "debug").glob("*PackageTests.xctest"))
    if len(bundles) != 1:
        raise Problem(f"{BUILD / 'debug'} holds {len(bundles)} test bundles, not one")
    bundle = bundles[0]
    # On Apple's systems the bundle is a folder.
    inner = bundle / "Contents" / "MacOS" / bundle.stem
    return inner if inner.exists() else bundle


# The runs

ISSUE = re.compile(r"Test (?P<test>\"[^\"]*\"|\S+\(.*?\)) recorded an issue(?P<rest>.*)")
PLACE = re.compile(r" at (?P<file>\w+)\.swift:\d+:\d+")
PASSED = re.compile(r"Test run with (\d+) tests? .*passed after")


class Outcome:
    """The outcome of a run of tests: whether they passed, and otherwise the first cause."""

    def __init__(self, passed, cause=None, count=0, output="", is_late=False):
        self.passed = passed
        self.is_late = is_late
        self.cause = cause
        self.count = count
        self.output = output


# The sweeps run whole, because a sample might miss a bug that only one case shows.
WHOLE_SWEEPS = {"SESSION_SWEEP": "whole"}


def run_tests(bundle, expression, number, limit, stops=True, variables=WHOLE_SWEEPS):
    """Runs the matching tests with one mutant active; if `stops` is true, only up to the first issue."""
    # A backtrace of a crash would take minutes.
    environment = dict(
        os.environ, MUTANT=str(number), SESSION_PATIENCE="30", SWIFT_BACKTRACE="enable=no", **variables)
    command = [str(bundle), "--testing-library", "swift-testing", "--filter", expression,
               "--skip", "SourceLayoutTests"]
    process = subprocess.Popen(
        command, cwd=TREE, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
    is_late = threading.Event()

    def end():
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def time_out():
        is_late.set()
        end()

    timer = threading.Timer(limit, time_out)
    timer.start()
    lines, issue, count = [], None, 0
    try:
        for line in process.stdout:
            lines.append(line)
            passed = PASSED.search(line)
            if passed:
                count = int(passed.group(1))
            found = ISSUE.search(line)
            if found and issue is None:
                place = PLACE.search(found.group("rest"))
                suite = place.group("file") + ": " if place else ""
                issue = suite + found.group("test").strip('"')
                if stops:
                    break
    finally:
        timer.cancel()
        if issue is not None and stops or sys.exc_info()[0]:
            end()
        process.stdout.close()
        status = process.wait()
        # A test may have left child processes.
        end()
    output = "".join(lines)
    if issue:
        return Outcome(False, issue, output=output)
    if is_late.is_set():
        return Outcome(False, f"time-out after {limit:.0f} s", output=output, is_late=True)
    if status < 0:
        started = re.findall(r"Test (\"[^\"]*\"|\S+\(.*?\)) started", output)
        last = started[-1].strip('"') if started else "the first test"
        return Outcome(False, f"crash (signal {-status}), last started: {last}", output=output)
    if status != 0 or count == 0:
        return Outcome(False, f"exit {status}, {count} tests passed", output=output)
    return Outcome(True, count=count, output=output)


def forget_cases():
    """Removes the failing cases that a property saved in the copy, so that each mutant is judged alone."""
    for path in list((TREE / "Tests" / "Regressions").rglob("*.case")):
        if not (ROOT / path.relative_to(TREE)).exists():
            path.unlink(missing_ok=True)
