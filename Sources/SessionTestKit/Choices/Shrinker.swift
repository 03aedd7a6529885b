/// A search that makes a failing case simpler: fewer draws first, then smaller ones.
///
/// It runs nothing itself. It hands out candidates and receives their outcomes, so that one
/// shrinker serves synchronous and asynchronous bodies.
struct Shrinker: Sendable {
  /// The simplest failing case so far.
  private(set) var best: ShrinkCase
  /// The number of candidates that were handed out.
  private(set) var runs = 0

  private let budget: ShrinkBudget
  private var replayed = 0
  private var tried: Set<UInt64>
  private var passes = ShrinkPass.quick
  private var isThorough = false
  private var pass = 0
  private var sites: [ShrinkPass.Site]
  private var site = 0
  private var isStale = false
  private var hasImproved = false
  private var descent: Descent?
  private var pending: [UInt64] = []

  /// A binary search at one site for the greatest amount with which the case still fails.
  private struct Descent: Sendable {
    let base: [UInt64]
    var fails: UInt64 = 0
    var passes: UInt64?
    var amount: UInt64
  }

  init(_ failing: ShrinkCase, budget: ShrinkBudget) {
    best = failing
    tried = [Self.fingerprint(failing.draws)]
    self.budget = budget
    sites = ShrinkPass.quick[0].sites(in: failing)
  }

  /// Why the search stopped early; `nil` if it did not.
  var stop: String? {
    if runs >= budget.runs { return "no more were allowed" }
    return replayed >= budget.draws ? "\(budget.draws) draws had been replayed" : nil
  }

  /// Returns the next case to try, or `nil` if there is none left.
  ///
  /// Report the outcome of the case with `learn`. The result is also `nil` if `isOver` returns
  /// `true`; it is called now and then while this function skips candidates that were tried before.
  mutating func next(_ isOver: () -> Bool = { false }) -> [UInt64]? {
    var looks = 0
    while stop == nil {
      looks += 1
      if looks % 64 == 0, isOver() { return nil }
      guard let descent else {
        guard begin() else { return nil }
        continue
      }
      let candidate = passes[pass].edit(descent.base, at: sites[site], by: descent.amount)
      guard candidate.isSimpler(than: best.draws),
        tried.insert(Self.fingerprint(candidate)).inserted
      else {
        narrow(stillFails: false)
        continue
      }
      runs += 1
      replayed += candidate.count
      pending = candidate
      return candidate
    }
    return nil
  }

  /// Takes the outcome of the candidate: the case that it made if that failed as the first did,
  /// else `nil`.
  mutating func learn(_ failing: ShrinkCase?) {
    guard let failing, failing.draws.isSimpler(than: best.draws) else {
      narrow(stillFails: false)
      return
    }
    best = failing
    hasImproved = true
    tried.insert(Self.fingerprint(failing.draws))
    isStale = true
    if failing.draws == pending, sites[site].limit > 1 {
      narrow(stillFails: true)
    } else {
      // The case has another shape now, and this site may offer another change.
      descent = nil
    }
  }

  /// Returns a hash of the draws without the zeros at the end; storing the arrays could exhaust the
  /// memory.
  private static func fingerprint(_ draws: [UInt64]) -> UInt64 {
    draws.trimmed.reduce(0) { hash, draw in
      var mix = SplitMix(seed: hash ^ draw)
      return mix.next()
    }
  }

  private mutating func begin() -> Bool {
    if isStale {
      look()
      isStale = false
    }
    if site < sites.count {
      descent = Descent(base: best.draws, amount: sites[site].limit)
      return true
    }
    site = 0
    pass += 1
    if pass == passes.count {
      pass = 0
      guard hasImproved || !isThorough else { return false }
      isThorough = !hasImproved
      passes = isThorough ? ShrinkPass.thorough : ShrinkPass.quick
      hasImproved = false
    }
    look()
    return true
  }

  private mutating func look() {
    sites = passes[pass].sites(in: best)
  }

  private mutating func narrow(stillFails: Bool) {
    guard var search = descent else { return }
    if stillFails { search.fails = search.amount } else { search.passes = search.amount }
    guard let passes = search.passes, passes - search.fails > 1 else {
      descent = nil
      site += 1
      return
    }
    search.amount = search.fails + (passes - search.fails) / 2
    descent = search
  }
}

/// The limits of one search for a simpler case.
struct ShrinkBudget: Hashable, Sendable {
  /// The greatest number of cases to try.
  var runs: Int
  /// The greatest number of draws to replay in them.
  ///
  /// It ends the shrinking of huge cases, and is the same on every machine.
  var draws: Int
  /// The longest real time to spend, for bodies that take long themselves.
  var time: Duration
}

/// A failing case as the shrinker uses it: its draws, the limit of each, and its spans.
struct ShrinkCase: Sendable {
  /// All draws of the case, including the zeros at the end: a case with fewer draws is simpler.
  let draws: [UInt64]
  /// The greatest value that each draw could have had.
  let limits: [UInt64]
  /// The spans within the draws without duplicates and empty ones, the longest first.
  let spans: [Range<Int>]

  init(draws: [UInt64], limits: [UInt64], spans: [Range<Int>]) {
    self.draws = draws
    self.limits = limits
    self.spans = Set(spans)
      .filter { !$0.isEmpty }
      .sorted { ($1.count, $0.lowerBound) < ($0.count, $1.lowerBound) }
  }
}

extension [UInt64] {
  /// The draws without the zeros at the end: past the end every draw is 0 anyway.
  var trimmed: [UInt64] {
    Array(prefix((lastIndex { $0 != 0 } ?? -1) + 1))
  }

  /// Returns whether these draws are simpler: fewer, or as many and smaller at the first
  /// difference.
  func isSimpler(than other: [UInt64]) -> Bool {
    count == other.count ? lexicographicallyPrecedes(other) : count < other.count
  }
}
