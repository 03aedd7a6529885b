@_spi(Internals) import SessionChangeQueue
@_spi(Internals) import SessionCore
import SessionJournal
@_spi(Internals) import SessionTestKit
import Testing

/// Files that no writer makes, with valid checksums: all commands must judge them alike.
enum CraftedJournals {
  /// A frame of a crafted file.
  struct Frame {
    var kind: UInt8
    var payload: [UInt8] = []
    var sequence: UInt64
    var remaining: UInt16 = 0
  }

  static let identifier = JournalIdentifier(high: 0x0123_4567_89AB_4CDE, low: 0x8F01_2345_6789_ABCD)

  /// A file with this first sequence and these frames, one after the other.
  static func file(format: UInt16 = 1, first: UInt64 = 1, snapshot: Bool = false, _ frames: [Frame])
    -> [UInt8]
  {
    let plain = JournalHeader(
      identifier: identifier, salt: 0x5A17, maximumRecordSize: 65_536, firstSequence: first)
    let header = snapshot ? plain.compacted(from: first, salt: 0x5A17) : plain
    var bytes = header.encoded
    if format != 1 {
      bytes[8] = UInt8(format)
      var checksum = Checksum()
      checksum.extend(over: Array(bytes[..<60]))
      withUnsafeBytes(of: checksum.value.littleEndian) { bytes.replaceSubrange(60..<64, with: $0) }
    }
    guard case .whole(let read) = JournalHeader.read(bytes) else { return bytes }
    var writer = FrameWriter(seed: read.seed, chain: read.checksum)
    for frame in frames {
      if frame.kind == SessionRecord.snapshotKind {
        writer.append(snapshot: frame.payload, sequence: frame.sequence)
      } else {
        writer.append(
          JournalDraft(kind: frame.kind, payload: frame.payload), sequence: frame.sequence,
          durable: frame.sequence - 1, remainingInBatch: frame.remaining)
      }
    }
    return bytes + writer.bytes
  }

  static func frame(_ content: SessionRecord.Content, _ sequence: UInt64, remaining: UInt16 = 0)
    -> Frame
  {
    let (kind, payload) = SessionCodec.encode(content, at: SampleJournal.start)
    return Frame(kind: kind, payload: payload, sequence: sequence, remaining: remaining)
  }

  static func watermark(_ sequence: UInt64) -> Frame { Frame(kind: 0xFF, sequence: sequence) }

  static let opened = SessionRecord.Content.opened(by: 1, uptime: 1_000)
  static let login = SessionRecord.Content.login(SampleJournal.user, SampleJournal.token(1, at: 10))

  /// The highest first sequence that a header may have.
  static let highest: UInt64 = 1 << 62

  /// Every file, with what is unusual about it as its name.
  static func all() throws -> [(name: String, bytes: [UInt8])] {
    let closed = SessionRecord.Content.note(.closed)
    let change = ChangeCodec.encode(.acknowledged("k-1"), at: SampleJournal.start)
    let fold = SessionCodec.encode(.snapshot(try folded()), at: SampleJournal.start).payload
    func snapshot(_ sequence: UInt64, _ payload: [UInt8]) -> Frame {
      Frame(kind: SessionRecord.snapshotKind, payload: payload, sequence: sequence)
    }
    var files: [(String, [UInt8])] = [
      ("nothing", file([])),
      ("one change that cannot be read", file([Frame(kind: 0xA0, payload: [1], sequence: 1)])),
      (
        "a change that cannot be read behind a session's note",
        file([frame(opened, 1), Frame(kind: 0xA0, payload: [1], sequence: 2), frame(closed, 3)])
      ),
      (
        "a change that nobody knows behind a session's note",
        file([frame(opened, 1), Frame(kind: 0xBF, payload: change.payload, sequence: 2)])
      ),
      (
        "a session's note behind a change",
        file([Frame(kind: change.kind, payload: change.payload, sequence: 1), frame(closed, 2)])
      ),
      (
        "one change of a key that is not there",
        file([Frame(kind: change.kind, payload: change.payload, sequence: 1)])
      ),
      (
        "one record of a newer change log",
        file([Frame(kind: 0xB7, payload: [UInt8](repeating: 0, count: 9), sequence: 1)])
      ),
      (
        "one record of a newer list of accounts",
        file([Frame(kind: 0xBE, payload: [UInt8](repeating: 0, count: 9), sequence: 1)])
      ), ("format 2 for readers of 1", file(format: 2, [frame(opened, 1), frame(login, 2)])),
      ("a first sequence without a snapshot", file(first: 7, [frame(opened, 7), frame(login, 8)])),
      ("a first sequence without a record", file(first: 7, [])),
      ("the highest first sequence", file(first: highest, [frame(opened, highest)])),
      (
        "a watermark that ends a batch",
        file([
          frame(opened, 1, remaining: 1), watermark(2), frame(login, 3, remaining: 1), watermark(4),
        ])
      ),
      (
        "a watermark that ends a batch before a single record",
        file([frame(opened, 1, remaining: 1), watermark(2), frame(login, 3)])
      ),
      (
        "a watermark that ends a batch before what is illegal",
        file([frame(opened, 1), frame(login, 2, remaining: 1), watermark(3), frame(login, 4)])
      ), ("watermarks alone", file([watermark(1), watermark(2)])),
      (
        "a kind that may not be passed over",
        file([frame(opened, 1), Frame(kind: 9, payload: [7], sequence: 2)])
      ),
      ("a first record that cannot be read", file([Frame(kind: 1, payload: [1, 2], sequence: 1)])),
      ("a first record that is illegal", file([frame(.event(.logout(.init(reason: .user))), 1)])),
      (
        "half a batch",
        file([frame(opened, 1), frame(login, 2, remaining: 2), frame(closed, 3, remaining: 1)])
      ), ("a snapshot and no more", file(first: 8, snapshot: true, [snapshot(7, fold)])),
      (
        "a snapshot and records",
        file(first: 8, snapshot: true, [snapshot(7, fold), frame(opened, 8)])
      ), ("no snapshot where one must be", file(first: 8, snapshot: true, [])),
      (
        "a snapshot that cannot be read",
        file(first: 8, snapshot: true, [snapshot(7, [1, 2, 3]), frame(opened, 8)])
      ),
      (
        "a snapshot that cannot be read, of the highest sequence",
        file(first: highest, snapshot: true, [snapshot(highest - 1, [1, 2, 3])])
      ),
      (
        "a snapshot of the highest sequence that is damaged",
        damaged(file(first: highest, snapshot: true, [snapshot(highest - 1, fold)]), at: 100)
      ),
      (
        "a snapshot of the highest sequence",
        file(first: highest, snapshot: true, [snapshot(highest - 1, fold), frame(opened, highest)])
      ),
      (
        "a gap up to the highest sequence",
        file([frame(opened, 1), frame(login, 2)])
          + Array(file(first: highest, [frame(closed, (1 << 63) - 1)]).dropFirst(64))
      ),
    ]
    for (name, bytes) in files where bytes.count > 200 {
      files.append((name + ", damaged", damaged(bytes, at: bytes.count - 60)))
      files.append((name + ", cut", Array(bytes.dropLast(5))))
    }
    return files
  }

  private static func damaged(_ bytes: [UInt8], at place: Int) -> [UInt8] {
    var bytes = bytes
    bytes[place] ^= 0x40
    return bytes
  }

  private static func folded() throws -> SessionFold {
    var fold = SessionFold()
    try fold.apply(SessionRecord(sequence: 7, time: SampleJournal.start, content: login))
    return fold
  }

  /// A file whose frames have new checksums after one of its payloads or kinds was changed; the place
  /// and the value are drawn from `number`.
  static func resealed(_ bytes: [UInt8], _ number: Int) throws -> [UInt8] {
    var reader = try JournalReader(bytes: bytes)
    let header = reader.header
    var frames: [(frame: JournalFrame, payload: [UInt8])] = []
    try reader.visit { frame, payload in
      frames.append((frame, payload.withUnsafeBytes { Array($0) }))
      return true
    }
    guard !frames.isEmpty else { return bytes }
    var generator = Generator(state: UInt64(number) &* 0x9E37_79B9_7F4A_7C15 | 1)
    let chosen = Int(generator.next() % UInt64(frames.count))
    var writer = FrameWriter(seed: header.seed, chain: header.checksum)
    for (index, (frame, old)) in frames.enumerated() {
      var (kind, payload) = (frame.kind, old)
      if index == chosen {
        switch generator.next() % 4 {
        case 0 where !frame.isSnapshot: kind = UInt8(1 + generator.next() % 0x7D)
        case 1 where !frame.isSnapshot: kind = UInt8(0x80 + generator.next() % 0x7F)
        case 2: payload = Array(payload.prefix(Int(generator.next() % UInt64(payload.count + 1))))
        default:
          guard !payload.isEmpty else { break }
          payload[Int(generator.next() % UInt64(payload.count))] = UInt8(
            truncatingIfNeeded: generator.next())
        }
      }
      if frame.isSnapshot {
        writer.append(snapshot: payload, sequence: frame.sequence)
      } else {
        // The reader skips watermarks: the new file has gaps in their place.
        writer.append(
          JournalDraft(kind: kind, payload: payload), sequence: frame.sequence,
          durable: frame.sequence - 1, remainingInBatch: frame.remainingInBatch)
      }
    }
    return header.encoded + writer.bytes
  }

  private struct Generator {
    var state: UInt64
    mutating func next() -> UInt64 {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return state >> 8
    }
  }
}
