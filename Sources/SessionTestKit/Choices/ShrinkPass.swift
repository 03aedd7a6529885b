/// A kind of change that makes draws simpler.
///
/// A pass lists its sites in a case. It can change a site by an amount, from 1 to the site's limit.
/// The shrinker searches for the greatest amount with which the case still fails.
enum ShrinkPass: Hashable, Sendable {
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
