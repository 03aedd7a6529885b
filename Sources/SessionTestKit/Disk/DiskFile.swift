/// An exclusive lock; it belongs to an open file, and ends with that file or its process.
struct DiskLock: Equatable, Sendable {
  let handle: UInt64
  let process: Int
}

/// One file of a simulated disk: the content that processes see, and what a power cut would leave.
struct DiskFile: Sendable {
  static let sectorSize = 512

  /// The content that every process sees.
  private(set) var content: [UInt8] = []

  /// The bytes on the medium; there can be more than `storedSize` if data was written before the
  /// size.
  private(set) var stored: [UInt8] = []

  /// The size on the medium.
  private(set) var storedSize = 0

  private(set) var dirty = SectorSet()

  /// The sizes that the file has had since its last sync, without the current one.
  private(set) var pastSizes: [Int] = []

  /// The owner of the lock; `nil` if the file is not locked.
  var lock: DiskLock?

  /// The number of failed syncs; each handle reports each failure once.
  private(set) var failures = 0

  /// Creates a file whose bytes are all on the medium.
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

  /// Inverts a bit of the bytes that were just written at `offset`.
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

  /// Returns the first byte at or after `offset` in a sector that is not all zeros.
  func nextData(from offset: Int) -> Int? {
    var place = offset
    while place < content.count {
      let end = min(content.count, (place / Self.sectorSize + 1) * Self.sectorSize)
      if content[place..<end].contains(where: { $0 != 0 }) { return place }
      place = end
    }
    return nil
  }

  /// Makes the whole visible content durable.
  mutating func synchronize() {
    for range in dirty.ranges { store(range) }
    if stored.count > content.count { stored.removeLast(stored.count - content.count) }
    storedSize = content.count
    dirty.removeAll()
    pastSizes.removeAll(keepingCapacity: true)
  }

  /// Writes some dirty sectors to the medium ahead of a sync; they stay dirty.
  mutating func writeBack(_ isChosen: (Int) -> Bool) {
    for sector in dirty.sectors where isChosen(sector) { store(sector..<(sector + 1)) }
  }

  /// Performs a failed sync: sectors that it did not write are no longer dirty, so no later sync
  /// writes them.
  mutating func dropDirty(storing isStored: (Int) -> Bool, evicting: Bool) {
    failures += 1
    writeBack(isStored)
    dirty.removeAll()
    guard evicting else { return }
    // Dropped sectors are read again from the medium, with the medium's size.
    content = Array(stored.prefix(storedSize))
    content.append(contentsOf: repeatElement(0, count: storedSize - content.count))
    pastSizes.removeAll(keepingCapacity: true)
  }

  /// Returns the file after a power cut.
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
    // A few sizes are enough to draw from.
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

  /// Applies a fate to one sector.
  ///
  /// Bytes on the medium that do not change are safe: rewriting a sector with the same bytes never
  /// alters them.
  private func apply(_ fate: SectorFate, to bytes: inout [UInt8], sector: Int) {
    let start = sector * Self.sectorSize
    // No fate changes bytes after the end of the visible content.
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

  /// Copies the visible bytes of a range.
  private func copy(_ range: Range<Int>, to bytes: inout [UInt8]) {
    bytes.withUnsafeMutableBytes { old in
      content.withUnsafeBytes { new in
        UnsafeMutableRawBufferPointer(rebasing: old[range])
          .copyMemory(from: UnsafeRawBufferPointer(rebasing: new[range]))
      }
    }
  }

  /// Replaces each byte that was to change; calls `other` for every byte of the range, in order.
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

/// The sectors of a file that were written since its last sync: disjoint ranges in order.
struct SectorSet: Equatable, Sendable {
  private(set) var ranges: [Range<Int>] = []

  var isEmpty: Bool { ranges.isEmpty }
  var count: Int { ranges.reduce(0) { $0 + $1.count } }

  /// All sectors, in order.
  var sectors: [Int] { ranges.flatMap { Array($0) } }

  mutating func insert(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    guard let last = ranges.last, range.lowerBound <= last.upperBound else {
      ranges.append(range)
      return
    }
    // Appending writes touch only the last range.
    if range.lowerBound >= last.lowerBound {
      ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      return
    }
    merge(range)
  }

  mutating func removeAll() {
    ranges.removeAll(keepingCapacity: true)
  }

  private mutating func merge(_ range: Range<Int>) {
    var merged: [Range<Int>] = []
    for next in (ranges + [range]).sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = merged.last, next.lowerBound <= last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, next.upperBound)
      } else {
        merged.append(next)
      }
    }
    ranges = merged
  }
}
