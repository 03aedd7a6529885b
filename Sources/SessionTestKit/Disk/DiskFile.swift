/// An exclusive lock: it belongs to an open file, and goes with it or with its process.
struct DiskLock: Equatable, Sendable {
  let handle: UInt64
  let process: Int
}

/// One file of a simulated disk: what processes see of it, and what a power cut would leave.
struct DiskFile: Sendable {
  static let sectorSize = 512

  /// What every process sees.
  private(set) var content: [UInt8] = []

  /// What the medium holds; may reach behind `storedSize` where data came before the size.
  private(set) var stored: [UInt8] = []

  /// The size that the medium knows.
  private(set) var storedSize = 0

  private(set) var dirty = SectorSet()

  /// The sizes that the file has had since its last sync, the present one not among them.
  private(set) var pastSizes: [Int] = []

  /// Who has the lock.
  var lock: DiskLock?

  /// How many syncs have failed; a handle learns of each once.
  private(set) var failures = 0

  /// A file that is on the medium as it is.
  init(stored bytes: [UInt8] = []) {
    content = bytes
    stored = bytes
    storedSize = bytes.count
  }

  var isDirty: Bool { !dirty.isEmpty || content.count != storedSize }

  static func sectors(_ bytes: Range<Int>) -> Range<Int> {
    bytes.lowerBound / sectorSize..<(bytes.upperBound + sectorSize - 1) / sectorSize
  }
}

extension DiskFile {
  mutating func write(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    guard !bytes.isEmpty else { return }
    let end = offset + bytes.count
    if end > content.count { noteSize() }
    if offset > content.count {
      dirty.insert(Self.sectors(content.count..<offset))
      content.append(contentsOf: repeatElement(0, count: offset - content.count))
    }
    let inside = min(bytes.count, content.count - offset)
    if inside > 0 {
      content.withUnsafeMutableBytes { buffer in
        UnsafeMutableRawBufferPointer(rebasing: buffer[offset..<(offset + inside)])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<inside]))
      }
    }
    if inside < bytes.count {
      content.append(contentsOf: UnsafeRawBufferPointer(rebasing: bytes[inside...]))
    }
    dirty.insert(Self.sectors(offset..<end))
  }

  /// Turns a bit of what was just written from `offset` on.
  mutating func flip(bit: Int, from offset: Int) {
    content[offset + bit / 8] ^= 1 << (bit % 8)
  }

  mutating func truncate(to size: Int) {
    guard size != content.count else { return }
    noteSize()
    if size < content.count {
      dirty.insert(Self.sectors(size..<content.count))
      content.removeLast(content.count - size)
    } else {
      dirty.insert(Self.sectors(content.count..<size))
      content.append(contentsOf: repeatElement(0, count: size - content.count))
    }
  }

  func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    guard offset < content.count else { return 0 }
    let count = min(buffer.count, content.count - offset)
    content.withUnsafeBytes { bytes in
      buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + count)]))
    }
    return count
  }

  /// The first byte at or behind `offset` in a sector that is not all zeros.
  func nextData(from offset: Int) -> Int? {
    var place = offset
    while place < content.count {
      let end = min(content.count, (place / Self.sectorSize + 1) * Self.sectorSize)
      if content[place..<end].contains(where: { $0 != 0 }) { return place }
      place = end
    }
    return nil
  }

  /// Everything visible becomes durable.
  mutating func synchronize() {
    for range in dirty.ranges { store(range) }
    if stored.count > content.count { stored.removeLast(stored.count - content.count) }
    storedSize = content.count
    dirty.removeAll()
    pastSizes.removeAll(keepingCapacity: true)
  }

  /// Some dirty sectors reach the medium ahead of a sync; they stay dirty.
  mutating func writeBack(_ isChosen: (Int) -> Bool) {
    for sector in dirty.sectors where isChosen(sector) { store(sector..<(sector + 1)) }
  }

  /// A sync that fails: what it did not write, it forgets, so that no later sync will write it.
  mutating func dropDirty(storing isStored: (Int) -> Bool, evicting: Bool) {
    failures += 1
    writeBack(isStored)
    dirty.removeAll()
    guard evicting else { return }
    // What was dropped is read again from the medium, with the medium's size.
    content = Array(stored.prefix(storedSize))
    content.append(contentsOf: repeatElement(0, count: storedSize - content.count))
    pastSizes.removeAll(keepingCapacity: true)
  }

  /// What a power cut leaves.
  func afterPowerCut(_ cut: PowerCut, file: Int) -> DiskFile {
    if !isDirty, stored.count == storedSize { return DiskFile(stored: stored) }
    var candidates = [content.count]
    for size in [storedSize] + pastSizes where !candidates.contains(size) {
      candidates.append(size)
    }
    let size = max(0, candidates.count > 1 ? cut.size(candidates) : content.count)
    var bytes = Array(stored.prefix(size))
    if bytes.count < size { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
    for sector in dirty.sectors where sector * Self.sectorSize < size {
      let fate = cut.sector(UnsyncedSector(file: file, number: sector))
      apply(fate, to: &bytes, sector: sector)
    }
    return DiskFile(stored: bytes)
  }
}

extension DiskFile {
  private mutating func noteSize() {
    // A few are enough to draw from.
    if pastSizes.count < 16, pastSizes.last != content.count { pastSizes.append(content.count) }
  }

  private mutating func store(_ sectors: Range<Int>) {
    let start = sectors.lowerBound * Self.sectorSize
    let end = min(sectors.upperBound * Self.sectorSize, content.count)
    guard start < end else { return }
    if stored.count < start {
      stored.append(contentsOf: repeatElement(0, count: start - stored.count))
    }
    let inside = min(end, stored.count)
    if start < inside {
      stored.withUnsafeMutableBytes { buffer in
        content.withUnsafeBytes { bytes in
          UnsafeMutableRawBufferPointer(rebasing: buffer[start..<inside])
            .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<inside]))
        }
      }
    }
    if inside < end { stored.append(contentsOf: content[inside..<end]) }
  }

  /// Bytes that are on the medium already and do not change are safe from every fate: a sector that
  /// is written again with the same bytes holds them at any moment.
  private func apply(_ fate: SectorFate, to bytes: inout [UInt8], sector: Int) {
    let start = sector * Self.sectorSize
    // What stands behind the visible end changes in no fate.
    let end = min(start + Self.sectorSize, bytes.count, content.count)
    guard start < end else { return }
    switch fate {
    case .new: copy(start..<end, to: &bytes)
    case .old: break
    case .tornBehind(let count): copy(start..<start + min(max(0, count), end - start), to: &bytes)
    case .tornBefore(let count): copy(start + min(max(0, count), end - start)..<end, to: &bytes)
    case .zeros: replace(start..<end, of: &bytes) { 0 }
    case .garbage(let seed):
      var noise = SplitMix(seed: seed &+ UInt64(sector))
      replace(start..<end, of: &bytes) { UInt8(truncatingIfNeeded: noise.next()) }
    }
  }

  /// What is visible there reaches the medium.
  private func copy(_ range: Range<Int>, to bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { old in
      content.withUnsafeBytes { new in
        UnsafeMutableRawBufferPointer(rebasing: old[range])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: new[range]))
      }
    }
  }

  /// Every byte that was to change becomes another; `other` is asked for each, in order.
  private func replace(
    _ range: Range<Int>, of bytes: inout [UInt8], by other: () -> UInt8
  ) {
    bytes.withUnsafeMutableBytes { old in
      content.withUnsafeBytes { new in
        for place in range {
          let byte = other()
          if place >= storedSize || old[place] != new[place] { old[place] = byte }
        }
      }
    }
  }
}
