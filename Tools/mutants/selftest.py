"""Checks that the scanner finds the sites of a small file, and that a draw is what it says."""

from draw import OPERATORS, Draw, apply, scan

SOURCE = '''\
// if comment { never() }
struct Queue {
  let limit: Int
  private(set) var items: [Int] = []
  static let name = "if string { \\(count > 7) }"

  init(limit: Int) {
    self.limit = limit
  }

  var isFull: Bool { items.count >= limit && !items.isEmpty }
  var state: State { isFull ? .full : .free }

  enum State: UInt8 {
    case full = 4
    case free
  }

  mutating func add(_ item: Int) throws -> Int {
    guard items.count < limit, let first = items.first else {
      throw Refusal()
    }
    if isFull || item == first {
      log(
        item)
    }
    try check(item)
    items.append(item)
    let last: Int
    if item > 9 { last = item } else { last = first }
    precondition(last > 1)
    return last
  }

  func log(_ item: Int) {
    print("at \\(item)")
  }

  func first() -> Int {
    find(items)
  }

  #if os(Windows)
    func close() { if items.count > 3 { stop() } }
  #endif
}
'''

# The line, the operator and the edit of each site.
SITES = '''\
11 always items.count >= limit && !items.isEmpty -> true
11 never items.count >= limit && !items.isEmpty -> false
11 always items.count >= limit -> true
11 boundary items.count >= limit -> items.count > limit
11 never items.count >= limit -> false
11 always !items.isEmpty -> true
11 never !items.isEmpty -> false
20 always items.count < limit -> true
20 boundary items.count < limit -> items.count <= limit
20 never items.count < limit -> false
23 always isFull || item == first -> true
23 never isFull || item == first -> false
23 always isFull -> true
23 never isFull -> false
23 always item == first -> true
23 never item == first -> false
24 left-out log( item) ->
27 left-out try check(item) ->
27 swallowed try check(item) -> _ = try? check(item)
28 left-out items.append(item) ->
30 always item > 9 -> true
30 boundary item > 9 -> item >= 9
30 never item > 9 -> false
30 number 9 -> 10
30 number 9 -> 8
31 number 1 -> 0
31 number 1 -> 2
36 left-out print("at \\(item)") ->
'''

EDITED = '''\
      if !(mutant_active(2) != 0) { log(
        item) }
    }
    if mutant_active(3) != 0 { _ = try? check(item) } else { try check(item) }
'''


def check(is_right, what):
    if not is_right:
        raise AssertionError(what)


def self_test():
    """Raises an AssertionError if the scanner or the draw is wrong."""
    sites = scan("Sources/Queue/Queue.swift", SOURCE)
    found = [f"{SOURCE.count(chr(10), 0, s.start) + 1} {s.operator} {' '.join(s.original.split())} -> {s.mutated}"
             .rstrip() for s in sites]
    wanted = [line.rstrip() for line in SITES.splitlines()]
    check(sorted(found) == sorted(wanted),
          "missing: %s\nnot wanted: %s" % (sorted(set(wanted) - set(found)), sorted(set(found) - set(wanted))))

    edge = next(s for s in sites if s.operator == "boundary" and s.original == "item > 9")
    check(edge.edit(5) == "(mutant_active(5) != 0 ? (item >= 9) : (item > 9))", edge.edit(5))
    log = next(s for s in sites if s.original.startswith("log("))
    call = next(s for s in sites if s.operator == "swallowed")
    text, lines = apply(SOURCE, [(3, call), (2, log)])
    check(EDITED in text, text)
    check((lines[2], lines[3]) == (range(24, 26), range(27, 28)), lines)

    others = scan("Sources/Other/Other.swift", SOURCE)
    draws = [Draw(sites + others, seed) for seed in (1, 1, 2)]
    taken = [[draw.next() for _ in range(12)] for draw in draws]
    check(repr(taken[0]) == repr(taken[1]) != repr(taken[2]), "a seed does not decide")
    for drawn in taken:
        check(not any(one is not two and one.overlaps(two) for one in drawn for two in drawn), "two overlap")
        modules = [site.file.split("/")[1] for site in drawn]
        check(modules.count("Queue") == modules.count("Other") == 6, modules)
        check(len({site.operator for site in drawn}) == len(OPERATORS), "an operator is missing")
    rest = 0
    while draws[0].next():
        rest += 1
    check(0 < rest < len(sites + others), "a draw ends when all sites are taken or overlap")
    print(f"the scanner finds the {len(sites)} sites of a small file, and a draw spreads them")
