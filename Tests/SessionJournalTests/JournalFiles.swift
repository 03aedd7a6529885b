import ChildProcesses
import Foundation
import SessionJournal

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

extension JournalRecord {
  var text: String { String(decoding: payload, as: UTF8.self) }
}
