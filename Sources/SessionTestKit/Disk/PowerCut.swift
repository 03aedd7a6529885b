/// What becomes of one sector that was written and not synced when the power fails.
package enum SectorFate: Equatable, Sendable {
  /// It was written.
  case new
  /// It was not.
  case old
  /// The first so many bytes were written.
  case tornBehind(Int)
  /// All but the first so many bytes were written.
  case tornBefore(Int)
  /// What was to change is zero.
  case zeros
  /// What was to change is noise, made of the number.
  case garbage(UInt64)
}

/// A sector of 512 bytes that was written and not synced.
package struct UnsyncedSector: Hashable, Sendable {
  /// The number of its file on the disk.
  package let file: Int

  /// Its number in the file, from 0.
  package let number: Int
}

/// How a power cut treats everything that was not synced.
///
/// - Requirement: TST-2
package struct PowerCut {
  let sector: (UnsyncedSector) -> SectorFate
  let size: ([Int]) -> Int
  let changes: (Int) -> [Int]

  /// Makes a power cut of its decisions.
  ///
  /// `sector` says what becomes of each unsynced sector. `size` gets the sizes that an unsynced file
  /// has had, the present one first, and answers the one that is left, any number of bytes.
  /// `changes` gets how many names were created, moved or removed since the folder's sync, and
  /// answers which of them happened, in which order, by their places from 0.
  package init(
    sector: @escaping (UnsyncedSector) -> SectorFate,
    size: @escaping (_ candidates: [Int]) -> Int = { $0.first ?? 0 },
    changes: @escaping (_ count: Int) -> [Int] = { Array(0..<$0) }
  ) {
    self.sector = sector
    self.size = size
    self.changes = changes
  }

  /// Everything was written in time.
  package static var keepingAll: PowerCut { PowerCut(sector: { _ in .new }) }

  /// Nothing was written that was not synced.
  package static var losingAll: PowerCut {
    PowerCut(
      sector: { _ in .old }, size: { $0.count > 1 ? $0[1] : $0.first ?? 0 }, changes: { _ in [] })
  }

  /// Decides by draws; draws of 0 keep everything.
  package static func drawn(from choices: Choices) -> PowerCut {
    PowerCut(
      sector: { _ in drawFate(choices) },
      size: { drawSize($0, choices) },
      changes: { drawChanges($0, choices) })
  }

  private static func drawFate(_ choices: Choices) -> SectorFate {
    let last = DiskFile.sectorSize - 1
    switch choices.draw(below: 7) {
    case 0, 1: return .new
    case 2: return .old
    case 3: return .tornBehind(choices.draw(in: 1...last))
    case 4: return .tornBefore(choices.draw(in: 1...last))
    case 5: return .zeros
    default: return .garbage(choices.draw(below: 1 << 16))
    }
  }

  private static func drawSize(_ candidates: [Int], _ choices: Choices) -> Int {
    let least = candidates.min() ?? 0
    let most = candidates.max() ?? 0
    // A size that the file never had: some of its sectors were allocated, others not yet.
    if choices.chance(1, in: 4) { return choices.draw(in: least...most) }
    return choices.pick(candidates) ?? least
  }

  private static func drawChanges(_ count: Int, _ choices: Choices) -> [Int] {
    var places = Array(0..<count)
    if choices.chance(1, in: 4) {
      for place in places.indices.dropLast() {
        places.swapAt(place, choices.draw(in: place...(count - 1)))
      }
    }
    return places.filter { _ in !choices.chance(1, in: 3) }
  }
}
