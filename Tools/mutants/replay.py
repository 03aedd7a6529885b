"""Tells which seeded bugs of the core's decisions `sessionreplay replay-corpus` finds in recorded journals."""

import os
import subprocess

from package import BUILD, ROOT, WORK, Problem, build_product

MODULE = "SessionCore"
PROGRAM = "sessionreplay"
CORPUS = ROOT / "Specs" / "Journals"


def judge_replay(mutants, limit):
    """Builds the program with all bugs in it, and prints a table: found, not found or not reached."""
    build_product(PROGRAM)
    right = decide(0, limit)
    rows = [(mutant, verdict(mutant.number, right, limit))
            for mutant in mutants if mutant.module == MODULE]
    print("| Mutant | Decided again | What it does |\n| --- | --- | --- |")
    for mutant, word in rows:
        print(f"| `{mutant.name}` | {word} | {mutant.means} |")
    for word in sorted({word for _, word in rows}):
        print(f"{word}: {sum(1 for _, other in rows if other == word)}")


def verdict(number, right, limit):
    """Says whether the decisions differ with one bug active, or whether its code did not even run."""
    reached = WORK / "replay-reached.txt"
    reached.unlink(missing_ok=True)
    output = decide(number, limit, reached)
    if output is None:
        return "endless"
    if output != right:
        return "found"
    numbers = reached.read_text(encoding="utf-8").split() if reached.is_file() else []
    return "not found" if str(number) in numbers else "not reached"


def decide(number, limit, reached=None):
    """Returns what the program prints with one bug active; None if it does not end."""
    environment = dict(os.environ, MUTANT=str(number), SWIFT_BACKTRACE="enable=no")
    if reached:
        environment["MUTANTS_REACHED"] = str(reached)
    try:
        run = subprocess.run(
            [str(BUILD / "debug" / PROGRAM), "replay-corpus", str(CORPUS), "--quiet",
             "--recorded-policy", (CORPUS / "older-policy.txt").read_text(encoding="utf-8").strip()],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
    if number == 0 and run.returncode not in (0, 3):
        raise Problem(f"without a bug, replay-corpus exits with {run.returncode}")
    # A crash is found too.
    return run.returncode, run.stdout
