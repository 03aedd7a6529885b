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

/// A kind of change that makes draws simpler.
///
/// A pass lists its sites in a case. It can change a site by an amount, from 1 to the site's limit.
/// The shrinker searches for the greatest amount with which the case still fails.
private enum ShrinkPass: Hashable, Sendable {
  /// Deletes one of this number of parts of a long case; a part goes from one span's start to
  /// another's.
  case deleteParts(Int)
  case deleteSpans
  case deleteChunks(Int)
  case zeroChunks(Int)
  case lowerValues
  case lowerAlike
  case lowerPairs
  case moveValues
  case swapValues
  case swapSpans
  /// Helps with lists that begin with their length, and with choices that lead to fewer draws.
  case lowerAndDelete
  case deleteTwoSpans
  case lowerFarPairs
  case moveValuesFar
  case swapFarValues
  case lowerAndDeleteFar

  /// A place in the draws at which a pass can make a change.
  struct Site: Sendable {
    let first: Range<Int>
    let second: Range<Int>
    let limit: UInt64
  }

  /// The passes that are repeated until none finds a simpler case.
  static let quick: [ShrinkPass] =
    [2, 4, 8, 16, 32, 64].map(deleteParts) + [.deleteSpans]
    + [1_024, 256, 64, 32, 16, 8, 4, 2, 1].map(deleteChunks)
    + [1_024, 256, 64, 16, 8, 4, 2].map(zeroChunks)
    + [.lowerValues, .lowerAlike, .lowerPairs, .moveValues, .swapValues, .swapSpans]

  /// The passes that run after the quick ones find nothing more; they have many more sites.
  static let thorough: [ShrinkPass] = [
    .lowerAndDelete, .deleteTwoSpans, .lowerFarPairs, .moveValuesFar, .swapFarValues,
    .lowerAndDeleteFar,
  ]

  /// The distance within which two draws count as near.
  ///
  /// Most draws that belong together are near, and pairs of far draws are much more numerous.
  private static let reach = 16

  /// The greatest number of sites of pairs, so that listing those of a long case stays fast.
  private static let crowd = 20_000

  func sites(in best: ShrinkCase) -> [Site] {
    let draws = best.draws
    switch self {
    case .deleteParts(let count):
      return parts(count, of: best)
    case .deleteSpans:
      let end = draws.trimmed.count
      return best.spans.filter { $0.lowerBound < end }.map { Site(first: $0, second: $0, limit: 1) }
    case .deleteChunks(let size):
      // Deleting only zeros at the end would result in the same case.
      let end = draws.trimmed.count
      return chunks(size, in: draws).filter { $0.lowerBound < end }.map {
        Site(first: $0, second: $0, limit: 1)
      }
    case .zeroChunks(let size):
      return chunks(size, in: draws).filter { draws[$0].contains { $0 > 0 } }
        .map { Site(first: $0, second: $0, limit: 1) }
    case .lowerValues:
      return draws.indices.filter { draws[$0] > 0 }
        .map { Site(first: $0..<$0 + 1, second: $0..<$0 + 1, limit: draws[$0]) }
    case .lowerAlike:
      return alike(in: draws)
    case .lowerPairs, .lowerFarPairs:
      return pairs(in: draws) { min(draws[$0], draws[$1]) }
    case .moveValues, .moveValuesFar:
      return pairs(in: draws) { min(draws[$0], best.limits[$1] - min(draws[$1], best.limits[$1])) }
    case .swapValues, .swapFarValues:
      return pairs(in: draws) { draws[$0] > draws[$1] ? 1 : 0 }
    case .swapSpans:
      return neighbours(in: best.spans)
    case .lowerAndDelete:
      return lowerings(in: best)
    case .lowerAndDeleteFar:
      return farLowerings(in: best)
    case .deleteTwoSpans:
      guard best.spans.count <= 64 else { return [] }
      return best.spans.indices.flatMap { one in
        best.spans[(one + 1)...].filter { !$0.overlaps(best.spans[one]) }
          .map { Site(first: best.spans[one], second: $0, limit: 1) }
      }
    }
  }

  func edit(_ draws: [UInt64], at site: Site, by amount: UInt64) -> [UInt64] {
    var draws = draws
    let one = site.first.lowerBound
    let two = site.second.lowerBound
    switch self {
    case .deleteParts, .deleteSpans, .deleteChunks:
      draws.removeSubrange(site.first)
    case .zeroChunks:
      for index in site.first { draws[index] = 0 }
    case .lowerValues:
      draws[one] -= amount
    case .lowerAlike:
      let value = draws[one]
      for index in draws.indices where draws[index] == value { draws[index] -= amount }
    case .lowerPairs, .lowerFarPairs:
      draws[one] -= amount
      draws[two] -= amount
    case .moveValues, .moveValuesFar:
      draws[one] -= amount
      draws[two] += amount
    case .swapValues, .swapFarValues:
      draws.swapAt(one, two)
    case .swapSpans:
      draws.replaceSubrange(
        one..<site.second.upperBound, with: Array(draws[site.second]) + Array(draws[site.first]))
    case .lowerAndDelete, .lowerAndDeleteFar:
      draws[one] -= amount
      draws.removeSubrange(site.second)
    case .deleteTwoSpans:
      let (early, late) = one < two ? (site.first, site.second) : (site.second, site.first)
      draws.removeSubrange(late)
      draws.removeSubrange(early)
    }
    return draws
  }
}

extension ShrinkPass {
  private func chunks(_ size: Int, in draws: [UInt64]) -> [Range<Int>] {
    guard draws.count >= size else { return [] }
    let starts = stride(from: 0, through: draws.count - size, by: max(1, size / 2))
    return starts.map { $0..<$0 + size }
  }

  /// Returns no parts if chunks and single spans are as large.
  private func parts(_ count: Int, of best: ShrinkCase) -> [Site] {
    let starts = Set(best.spans.map(\.lowerBound)).sorted() + [best.draws.count]
    let size = starts.count / count
    guard size >= 8 else { return [] }
    return stride(from: 0, to: starts.count - 1, by: size).map { first in
      let part = starts[first]..<starts[min(first + size, starts.count - 1)]
      return Site(first: part, second: part, limit: 1)
    }
  }

  private var isFar: Bool {
    switch self {
    case .lowerFarPairs, .moveValuesFar, .swapFarValues, .lowerAndDeleteFar: true
    default: false
    }
  }

  private func pairs(in draws: [UInt64], limit: (Int, Int) -> UInt64) -> [Site] {
    var sites: [Site] = []
    for one in draws.indices where draws[one] > 0 && sites.count < Self.crowd {
      let near = min(draws.count, one + 1 + Self.reach)
      for two in isFar ? near..<draws.count : one + 1..<near {
        let limit = limit(one, two)
        if limit > 0 {
          sites.append(Site(first: one..<one + 1, second: two..<two + 1, limit: limit))
        }
      }
    }
    // If both draws are above 0, a change of both is more likely to help, so these pairs come
    // first.
    guard isFar else { return sites }
    return sites.filter { draws[$0.second.lowerBound] > 0 }
      + sites.filter { draws[$0.second.lowerBound] == 0 }
  }

  private func alike(in draws: [UInt64]) -> [Site] {
    var seen: [UInt64: Int] = [:]
    var sites: [Site] = []
    for (index, value) in draws.enumerated() where value > 0 {
      seen[value, default: 0] += 1
      if seen[value] == 2 {
        sites.append(Site(first: index..<index + 1, second: index..<index + 1, limit: value))
      }
    }
    return sites
  }

  private func neighbours(in spans: [Range<Int>]) -> [Site] {
    let starts = Dictionary(grouping: spans, by: \.lowerBound)
    return spans.flatMap { one in
      (starts[one.upperBound] ?? []).map { Site(first: one, second: $0, limit: 1) }
    }
  }

  private func lowerings(in best: ShrinkCase) -> [Site] {
    let draws = best.draws
    var sites: [Site] = []
    for one in draws.indices where draws[one] > 0 && sites.count < Self.crowd {
      for span in best.spans where (one + 1...one + 64).contains(span.lowerBound) {
        sites.append(Site(first: one..<one + 1, second: span, limit: draws[one]))
      }
      for start in (one + 1)..<max(one + 1, min(draws.count, one + 1 + Self.reach)) {
        for size in 1...4 where start + size <= draws.count {
          let chunk = start..<start + size
          sites.append(Site(first: one..<one + 1, second: chunk, limit: draws[one]))
        }
      }
    }
    return sites
  }

  /// Lists pairs of a draw to lower and a span to delete that begins more than 64 draws after it.
  private func farLowerings(in best: ShrinkCase) -> [Site] {
    var sites: [Site] = []
    for one in best.draws.indices where best.draws[one] > 0 && sites.count < Self.crowd {
      for span in best.spans where span.lowerBound > one + 64 {
        sites.append(Site(first: one..<one + 1, second: span, limit: best.draws[one]))
      }
    }
    return sites
  }
}
