/// A reader of a file, batch by batch, that passes on only frames that are whole and valid.
///
/// It stops at the end of the valid prefix and keeps the reason. A later call reads the incomplete
/// bytes again and continues.
struct FrameScanner: ~Copyable, Sendable {
  /// The first frame that does not count.
  struct Stop: Equatable, Sendable {
    let flaw: JournalFlaw
    let offset: UInt64
    let sequence: UInt64
  }

  /// What surrounds `position` in the file now.
  enum Surroundings: Equatable, Sendable {
    /// Another history has replaced what was read.
    case changed
    /// Only zeros follow, or nothing.
    case quiet
    /// A process has written after the position.
    case grown
  }

  let path: String
  let file: any JournalFileHandle
  let header: JournalHeader

  /// The status of the file when it was opened.
  let status: FileStatus

  /// The identity of the file, even if its name now leads to another one.
  var identity: FileStatus.Identity { status.identity }

  /// Whether the file system counts names; if so, a file without a name was removed.
  var countsNames: Bool { status.links > 0 }

  /// The CRC state with which the checksum of each frame begins.
  let seed: Checksum

  var window: ReadWindow

  /// The end of the bytes in the window that an earlier call read.
  ///
  /// Another process may have written there since.
  private var staleEnd: UInt64 = 0

  /// The end of the last whole batch.
  private(set) var position: FramePosition

  /// The position of the batch that ends at `position`; `position` itself after a seek.
  private var batch: FramePosition

  /// The end of the frames that were passed on; at most `position.offset`.
  private var delivered: UInt64

  /// Why the last read after `position` found no batch; nil at a clean end.
  private(set) var stop: Stop?

  /// The number of zeros after the whole prefix, if nothing else followed at the last verdict.
  private(set) var room: UInt64 = 0

  private(set) var totals = JournalTotals()
  private(set) var index = SequenceIndex()

  /// Reads the header of a file; if `readsOn`, also what follows it in the first window.
  ///
  /// A caller that takes a lock next must not read on: what it reads before may be cut until then.
  init(path: String, file: any JournalFileHandle, readsOn: Bool = false) throws(JournalError) {
    let status = try Self.status(of: file, at: path)
    var window = ReadWindow(fileSize: status.size)
    let header = try Self.header(of: file, at: path, &window, readsOn: readsOn)
    self.init(path: path, file: file, status, header, window)
  }

  /// Scans a file whose status and header are known, from its first frame.
  init(
    path: String, file: any JournalFileHandle, _ status: FileStatus, _ header: JournalHeader,
    _ window: consuming ReadWindow
  ) {
    self.path = path
    self.file = file
    self.status = status
    self.header = header
    self.window = window
    seed = header.seed
    position = FramePosition(after: header)
    batch = position
    delivered = position.offset
    totals.bytes = position.offset
    totals.lastSequence = header.firstSequence - 1
    index.note(position)
  }

  /// The last sequence of the whole prefix.
  var lastSequence: UInt64 { position.sequence - 1 }

  /// Passes every frame of the whole prefix to `body`, until that returns false.
  mutating func visit(_ body: (JournalFrame, RawSpan) -> Bool) throws(JournalError) {
    staleEnd = window.end
    while true {
      if delivered == position.offset {
        guard visitBatches(body) else { return }
        guard try verifyBatch() else { return }
      }
      while delivered < position.offset {
        if !deliver(body) { return }
      }
    }
  }

  /// Continues at another place between two batches.
  mutating func seek(to place: FramePosition) {
    window.forget(from: 0)
    position = place
    batch = place
    delivered = place.offset
    stop = nil
  }

  /// Releases the memory for reading, when nothing more is read for now.
  mutating func rest() {
    guard delivered == position.offset else { return }
    window.release()
  }

  /// Skips batches that this process has written, so that they are not read back.
  mutating func pass(to place: FramePosition) {
    seek(to: place)
    index.note(place)
  }

  /// Determines how the file ends now; requires a scan that reached its end.
  mutating func verdict() throws(JournalError) -> JournalEnding {
    room = 0
    guard let stop else { return .clean }
    if header.isSnapshotPlace(stop.offset) {
      // The file got its name after its snapshot was durable, so no writer caused this.
      return .damaged(
        JournalDamage(offset: stop.offset, sequence: stop.sequence, flaw: stop.flaw))
    }
    let search = TailSearch(header: header, seed: seed)
    let evidence = try onFile(path) { () throws(SystemFault) in
      try search.run(from: stop, in: file)
    }
    let ending = Verdict.decide(stop, after: position, evidence)
    if ending == .clean {
      room = evidence.end - min(evidence.end, position.offset)
      return .clean
    }
    // Another process may have been writing: a batch may be whole by now.
    if try verifyBatch() { return .clean }
    return self.stop == nil ? .clean : ending
  }

  /// Checks that the last frame is unchanged, and whether something follows it.
  func surroundings() throws(JournalError) -> Surroundings {
    let place = position.previous == 0 ? UInt64(JournalHeader.checksumPlace) : position.previous
    let gap = position.offset - place
    file.forgetCache()
    let (before, following) = try onFile(path) { () throws(SystemFault) in
      // Both are usually close enough for one call.
      guard gap > 1024 else {
        let both = try file.bytes(Int(gap) + JournalFrame.headerSize, at: place)
        return (both[...], both.dropFirst(Int(gap)))
      }
      let before = try file.bytes(MemoryLayout<UInt32>.size, at: place)
      return (before[...], try file.bytes(JournalFrame.headerSize, at: position.offset)[...])
    }
    let isContinued = before.withUnsafeBytes { bytes in
      bytes.count >= MemoryLayout<UInt32>.size && bytes.baseAddress?.loadLittle(0) == position.chain
    }
    guard isContinued else { return .changed }
    let isQuiet = following.withUnsafeBytes { bytes in bytes.allSatisfy { $0 == 0 } }
    return isQuiet ? .quiet : .grown
  }
}

extension FrameScanner {
  private static func status(of file: any JournalFileHandle, at path: String)
    throws(JournalError) -> FileStatus
  {
    let status = try onFile(path) { () throws(SystemFault) in
      // A frozen file has just been asked.
      if let frozen = file as? FrozenFile { frozen.beginning } else { try file.status() }
    }
    guard status.kind != .folder else { throw .isDirectory(path: path) }
    guard status.kind == .file else { throw .notARegularFile(path: path) }
    return status
  }

  private static func header(
    of file: any JournalFileHandle, at path: String, _ window: inout ReadWindow, readsOn: Bool
  ) throws(JournalError) -> JournalHeader {
    let bytes: [UInt8]
    do throws(SystemFault) {
      if readsOn {
        let count = try window.fill(JournalHeader.size, at: 0, keeping: 0, of: file)
        bytes = Array(window.storage[..<min(count, JournalHeader.size)])
      } else {
        bytes = try file.bytes(JournalHeader.size, at: 0)
      }
    } catch {
      throw error.error(at: path)
    }
    switch JournalHeader.read(bytes) {
    case .whole(let header): return header
    case .empty: throw .empty(path: path)
    case .notAJournal: throw .notAJournal(path: path)
    case .damaged: throw .headerDamaged(path: path)
    case .newer(let found):
      throw .newerFormat(path: path, found: found, supported: JournalHeader.supportedVersion)
    case .unknownFeatures(let features):
      throw .unknownFeatures(path: path, features: features)
    }
  }

  /// Verifies and passes on batches, as long as each is in memory, whole and valid.
  ///
  /// Returns false if `body` does. All other cases are left to `verifyBatch`.
  private mutating func visitBatches(_ body: (JournalFrame, RawSpan) -> Bool) -> Bool {
    let (storage, origin, end) = (window.storage, window.origin, window.count)
    let (seed, header) = (seed, header)
    var (start, place) = (batch, position)
    var passed = place.offset
    var goesOn = true
    guard place.offset >= origin else { return true }
    storage.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return }
      while goesOn {
        var next = place
        var last: JournalFrame
        var expected: UInt16?
        repeat {
          let offset = Int(next.offset - origin)
          guard offset + JournalFrame.headerSize <= end,
            case .success(let frame) = JournalFrame.read(
              base + offset, offset: next.offset, seed: seed, header: header),
            offset + frame.size <= end,
            next.flaw(of: frame, batchStart: place.offset, expected: expected) == nil,
            frame.isIntact(base + offset)
          else { return }
          next.advance(over: frame)
          expected = frame.remainingInBatch == 0 ? nil : frame.remainingInBatch - 1
          last = frame
        } while expected != nil
        index.note(next)
        (start, place) = (place, next)
        while goesOn, passed < place.offset {
          let here = base + Int(passed - origin)
          // Most batches have one frame, which has just been read.
          let frame = passed == last.offset ? last : JournalFrame(verified: here, offset: passed)
          passed += UInt64(frame.size)
          totals.count(frame)
          totals.lastSequence = frame.sequence
          let payload = UnsafeRawBufferPointer(
            start: here + JournalFrame.headerSize, count: Int(frame.payloadLength))
          goesOn = body(frame, payload.bytes)
        }
      }
    }
    if place != position {
      stop = nil
      totals.bytes = passed
    }
    (batch, position, delivered) = (start, place, passed)
    return goesOn
  }

  /// Passes on one frame that was verified.
  @inline(__always)
  private mutating func deliver(_ body: (JournalFrame, RawSpan) -> Bool) -> Bool {
    let place = Int(delivered - window.origin)
    let offset = delivered
    let (frame, goesOn) = window.storage.withUnsafeBytes { bytes -> (JournalFrame?, Bool) in
      guard let base = bytes.baseAddress else { return (nil, false) }
      let frame = JournalFrame(verified: base + place, offset: offset)
      let payload = UnsafeRawBufferPointer(
        start: base + place + JournalFrame.headerSize, count: Int(frame.payloadLength))
      return (frame, body(frame, payload.bytes))
    }
    guard let frame else { return false }
    delivered += UInt64(frame.size)
    totals.count(frame)
    totals.bytes = delivered
    totals.lastSequence = frame.sequence
    return goesOn
  }

  /// Verifies the batch after `position`, and moves `position` to its end; false if it is not
  /// whole.
  private mutating func verifyBatch() throws(JournalError) -> Bool {
    var place = position
    var expected: UInt16?
    var isOver = false
    repeat {
      let found: Result<JournalFrame, JournalFlaw>?
      do throws(SystemFault) {
        found = try verifyFrame(at: place, expected: expected)
      } catch {
        throw error.error(at: path)
      }
      switch found {
      case .success(let frame):
        place.advance(over: frame)
        expected = frame.remainingInBatch &- 1
        if frame.remainingInBatch == 0 { expected = nil }
      case nil:
        try refuseShrunkFile()
        stop = nil
        return false
      case .failure where position.offset < staleEnd:
        // What was incomplete here may be whole by now.
        window.forget(from: position.offset)
        staleEnd = 0
        (place, expected) = (position, nil)
        continue
      case .failure(let flaw):
        stop = Stop(flaw: flaw, offset: place.offset, sequence: place.sequence)
        window.forget(from: position.offset)
        return false
      }
      isOver = expected == nil
    } while !isOver
    stop = nil
    batch = position
    position = place
    index.note(place)
    return true
  }

  /// Verifies one frame; nil if the file ends here and no batch is open.
  @inline(__always)
  private mutating func verifyFrame(at place: FramePosition, expected: UInt16?)
    throws(SystemFault) -> Result<JournalFrame, JournalFlaw>?
  {
    let size = JournalFrame.headerSize
    var here = window.available(at: place.offset)
    if here < size {
      here = try window.fill(size, at: place.offset, keeping: delivered, of: file)
      if here == 0, !header.isSnapshotPlace(place.offset) {
        return expected == nil ? nil : .failure(.shortBatch)
      }
      if here < size { return .failure(.shortHeader) }
    }
    let seed = seed
    let header = header
    let start = Int(place.offset - window.origin)
    let read = window.storage.withUnsafeBytes { bytes -> Result<JournalFrame, JournalFlaw> in
      guard let base = bytes.baseAddress else { return .failure(.shortHeader) }
      return JournalFrame.read(base + start, offset: place.offset, seed: seed, header: header)
    }
    guard case .success(let frame) = read else { return read }
    if let flaw = place.flaw(of: frame, batchStart: position.offset, expected: expected) {
      return .failure(flaw)
    }
    if here < frame.size {
      here = try window.fill(frame.size, at: place.offset, keeping: delivered, of: file)
      if here < frame.size { return .failure(.shortPayload) }
    }
    let again = Int(place.offset - window.origin)
    let isIntact = window.storage.withUnsafeBytes { bytes -> Bool in
      guard let base = bytes.baseAddress else { return false }
      return frame.isIntact(base + again)
    }
    return isIntact ? read : .failure(.payloadChecksum)
  }

  private func refuseShrunkFile() throws(JournalError) {
    // All that was in the file when it was frozen was read.
    if let frozen = file as? FrozenFile, position.offset == frozen.end { return }
    let size = try onFile(path) { () throws(SystemFault) in try file.status().size }
    guard size < position.offset else { return }
    throw .damaged(
      path: path,
      JournalDamage(offset: size, sequence: position.sequence, flaw: .historyChanged))
  }
}

extension JournalTotals {
  @inline(__always)
  mutating func count(_ frame: JournalFrame) {
    if frame.isWatermark {
      watermarks += 1
    } else {
      records += 1
      skippable += UInt64(frame.kind >> 7)
    }
  }
}

extension JournalRecord {
  init(_ frame: JournalFrame, payload: RawSpan) {
    self.init(
      sequence: frame.sequence, offset: frame.offset, kind: frame.kind, flags: frame.flags,
      remainingInBatch: frame.remainingInBatch,
      payload: payload.withUnsafeBytes { [UInt8]($0) })
  }
}
