/// The fate of a written but unsynced sector in a power cut.
package enum SectorFate: Equatable, Sendable {
  /// The new content is on the medium.
  case new
  /// The old content is on the medium.
  case old
  /// Only this number of bytes from the start are new.
  case tornBehind(Int)
  /// All bytes are new except this number of bytes from the start.
  case tornBefore(Int)
  /// The bytes that were to change are zero.
  case zeros
  /// The bytes that were to change are noise; the number is its seed.
  case garbage(UInt64)
}

/// A sector of 512 bytes that was written but not synced.
package struct UnsyncedSector: Hashable, Sendable {
  /// The number of its file on the disk.
  package let file: Int

  /// Its number in the file, from 0.
  package let number: Int
}

/// The decisions of a power cut about everything that was not synced.
///
/// - Requirement: TST-2
package struct PowerCut {
  let sector: (UnsyncedSector) -> SectorFate
  let size: ([Int]) -> Int
  let changes: (Int) -> [Int]

  /// Creates a power cut from its decisions.
  ///
  /// - Parameters:
  ///   - sector: Returns the fate of each unsynced sector.
  ///   - size: Receives the sizes that an unsynced file has had, the current one first. Returns the
  ///     size that remains, in bytes; it can be any number.
  ///   - changes: Receives the number of names that were created, moved or removed since the
  ///     folder's sync. Returns the places, from 0, of the changes that took effect, in their
  ///     order.
  package init(
    sector: @escaping (UnsyncedSector) -> SectorFate,
    size: @escaping (_ candidates: [Int]) -> Int = { $0.first ?? 0 },
    changes: @escaping (_ count: Int) -> [Int] = { Array(0..<$0) }
  ) {
    self.sector = sector
    self.size = size
    self.changes = changes
  }

  /// A power cut that keeps all writes.
  package static var keepingAll: PowerCut { PowerCut(sector: { _ in .new }) }

  /// A power cut that loses all unsynced writes.
  package static var losingAll: PowerCut {
    PowerCut(
      sector: { _ in .old }, size: { $0.count > 1 ? $0[1] : $0.first ?? 0 }, changes: { _ in [] })
  }

  /// Returns a power cut that decides by draws; draws of 0 keep everything.
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
    // The file may never have had this size: some of its sectors were allocated, others not yet.
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
