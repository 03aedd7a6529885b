import ChildProcesses
import Foundation
import SessionJournal
import Testing

extension TemporaryFolder {
  /// The path of the journal of most tests.
  var journal: String { file("a.journal") }

  /// Writes the journal of most tests, and returns its path.
  func write(_ bytes: [UInt8]) throws -> String { try write(bytes, to: "a.journal") }
}

func contents(of path: String) throws -> [UInt8] {
  [UInt8](try Data(contentsOf: URL(filePath: path)))
}

/// The descriptors of this process whose file has a path that ends so, also if it was removed since.
func descriptors(endingIn end: String) throws -> [Int32] {
  let folder = "/proc/self/fd"
  return try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { name in
    var place = [CChar](repeating: 0, count: 4_096)
    let length = readlink("\(folder)/\(name)", &place, place.count - 1)
    // A file that another test has closed meanwhile has no link.
    guard length > 0 else { return nil }
    let target = String(decoding: place[..<length].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return target.hasSuffix(end) || target.hasSuffix(end + " (deleted)") ? Int32(name) : nil
  }
}

/// Starts a process that has inherited an open file, and does nothing.
func sleeper(with descriptor: Int32) throws -> ChildProcess {
  try ChildProcess(
    "/usr/bin/env", ["sleep", "1000"],
    input: .file(FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)))
}

func mode(of path: String) throws -> Int? {
  try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
}

extension JournalOptions {
  /// Always the same identifier and salt and no room, so that the same appends give the same bytes.
  static var fixed: JournalOptions { fixed(maximumRecordSize: 4096) }

  static func fixed(maximumRecordSize: Int) -> JournalOptions {
    var options = JournalOptions(maximumRecordSize: maximumRecordSize)
    options.room = .none
    options.birth = Birth(
      identifier: JournalIdentifier(high: 0x0011_2233_4455_4677, low: 0x8899_AABB_CCDD_EEFF),
      salt: 0x0123_4567_89AB_CDEF)
    return options
  }
}

/// A draft with a text, so that a failure is easy to read.
func draft(_ text: String, kind: UInt8 = 1) -> JournalDraft {
  JournalDraft(kind: kind, payload: Array(text.utf8))
}

extension JournalRecord { var text: String { String(decoding: payload, as: UTF8.self) } }

/// Writes frames that no writer produces, with valid checksums.
struct FrameForge {
  var sequence: UInt64
  var chain: UInt32
  var delta: UInt32 = 1
  var kind: UInt8 = 1
  var left: UInt16 = 0
  var length: UInt32?
  var payload: [UInt8] = []
  var salt: UInt64 = 0x0123_4567_89AB_CDEF

  var bytes: [UInt8] {
    let padded = payload + [UInt8](repeating: 0, count: (8 - payload.count % 8) % 8)
    var checksum = Checksum()
    checksum.extend(over: padded)
    var rest: [UInt8] = []
    rest += little(length ?? UInt32(payload.count)) + little(sequence) + little(delta)
    rest += little(chain) + little(checksum.value) + [kind, 0] + little(left)
    var frame = Checksum()
    frame.extend(over: little(salt))
    frame.extend(over: rest)
    return little(frame.value) + rest + padded
  }
}

func little(_ number: some FixedWidthInteger) -> [UInt8] {
  withUnsafeBytes(of: number.littleEndian) { [UInt8]($0) }
}

func number(_ bytes: [UInt8], at offset: Int) -> UInt32 {
  bytes[offset..<(offset + 4)].reversed().reduce(0) { $0 << 8 | UInt32($1) }
}

/// Summarizes records as their texts, one per line.
struct TextSummary: JournalSummary {
  var lines: [String] = []

  /// The maximum number of lines of a snapshot; nil: no maximum.
  var most: Int?

  /// Loses the first line of a snapshot that it reads: a fold with a bug.
  var forgets = false

  mutating func take(_ record: RecordHeader, payload: RawSpan) {
    let text = payload.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    guard record.isSnapshot else {
      lines.append(text)
      return
    }
    lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    if forgets { lines.removeFirst() }
  }

  func snapshot() -> [UInt8]? {
    guard lines.count <= most ?? .max else { return nil }
    return Array(lines.joined(separator: "\n").utf8)
  }
}

/// Every record of the file at `path`, the snapshot first.
func records(at path: String) throws -> [JournalRecord] {
  var reader = try JournalReader(path: path)
  var records: [JournalRecord] = []
  while let record = try reader.next() { records.append(record) }
  #expect(try reader.ending() == .clean)
  return records
}
