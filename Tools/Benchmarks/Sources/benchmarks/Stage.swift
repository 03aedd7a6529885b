internal import Foundation
@_spi(Internals) internal import SessionCore
internal import SessionJournal

/// The environment of a measurement: the folder, the tool and the size of the workload.
final class Stage {
  /// A folder for this run, on the file system that is measured.
  let folder: String

  let isQuick: Bool

  /// The path of `sessionreplay`, built for release.
  let tool: String

  /// The number of events in the workload.
  var eventCount: Int { isQuick ? 50_000 : 1_000_000 }

  private var nextFile = 0

  init(folder: String, isQuick: Bool, tool: String) throws {
    self.tool = tool
    self.folder = folder
    self.isQuick = isQuick
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
  }

  /// Removes all files.
  func clear() throws {
    try FileManager.default.removeItem(atPath: folder)
  }

  /// Returns the first number in a quick run, and the second otherwise.
  func pick(_ quick: Int, _ full: Int) -> Int { isQuick ? quick : full }

  /// Returns an unused path in the folder.
  func path(_ name: String) -> String {
    nextFile += 1
    return "\(folder)/\(nextFile)-\(name)"
  }

  /// The records of the workload.
  private(set) lazy var records = Workload.records(eventCount)

  /// The workload as drafts, as an app would append them.
  private(set) lazy var drafts = records.map { record in
    let (kind, payload) = SessionCodec.encode(record.content, at: record.time)
    return JournalDraft(kind: kind, payload: payload)
  }

  /// The workload in a closed journal, with one record per batch, as a session writes it.
  private(set) lazy var journal = Result { try writeJournal(eventCount) }

  /// Writes the first events of the workload to a new journal, and closes it.
  func writeJournal(_ count: Int) throws -> String {
    let folder = path("workload")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = folder + "/session.journal"
    let journal = try Journal.open(
      at: path, options: JournalOptions(durability: .operatingSystem))
    for draft in drafts.prefix(count) { _ = try journal.append([draft]) }
    try journal.close()
    return path
  }

  /// Returns the drafts from a place on; starts again at the first one if there are too few.
  func drafts(_ count: Int, from place: inout Int) -> [JournalDraft] {
    if place + count > drafts.count { place = 0 }
    defer { place += count }
    return Array(drafts[place..<place + count])
  }
}

/// Returns the bytes of a file.
func bytes(of path: String) throws -> [UInt8] {
  [UInt8](try Data(contentsOf: URL(filePath: path)))
}
