internal import Foundation
@_spi(Internals) internal import SessionCore
internal import SessionJournal

/// Where the figures are measured, and on how much.
final class Stage {
  /// A folder for this run on the file system that is measured.
  let folder: String

  let isQuick: Bool

  /// The path of `sessionreplay`, built for release.
  let tool: String

  /// How many events the workload has.
  var eventCount: Int { isQuick ? 50_000 : 1_000_000 }

  private var nextFile = 0

  init(folder: String, isQuick: Bool, tool: String) throws {
    self.tool = tool
    self.folder = folder
    self.isQuick = isQuick
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true)
  }

  /// Removes all that was written.
  func clear() throws {
    try FileManager.default.removeItem(atPath: folder)
  }

  /// One of two numbers: the first in a quick run.
  func pick(_ quick: Int, _ full: Int) -> Int { isQuick ? quick : full }

  /// A path in the folder where nothing stands.
  func path(_ name: String) -> String {
    nextFile += 1
    return "\(folder)/\(nextFile)-\(name)"
  }

  /// The workload's records.
  private(set) lazy var records = Workload.records(eventCount)

  /// The workload as an app would append it.
  private(set) lazy var drafts = records.map { record in
    let (kind, payload) = SessionCodec.encode(record.content, at: record.time)
    return JournalDraft(kind: kind, payload: payload)
  }

  /// The workload in a closed journal, one record to a batch, as a session writes it.
  private(set) lazy var journal = Result { try writeJournal(eventCount) }

  /// Writes the first events of the workload into a new journal, and closes it.
  func writeJournal(_ count: Int) throws -> String {
    let folder = path("workload")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let path = folder + "/session.journal"
    let journal = try Journal.open(
      at: path, options: Journal.Options(durability: .operatingSystem))
    for draft in drafts.prefix(count) { _ = try journal.append([draft]) }
    try journal.close()
    return path
  }

  /// The drafts from a place on, from the start again where they end.
  func drafts(_ count: Int, from place: inout Int) -> [JournalDraft] {
    if place + count > drafts.count { place = 0 }
    defer { place += count }
    return Array(drafts[place..<place + count])
  }
}

/// The bytes of a file.
func bytes(of path: String) throws -> [UInt8] {
  [UInt8](try Data(contentsOf: URL(filePath: path)))
}
