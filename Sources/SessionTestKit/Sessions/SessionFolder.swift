package import Foundation
@_spi(Internals) package import SessionCore
import SessionJournal

/// A folder with the journal and the secrets of a session, which is removed with its last reference.
package final class SessionFolder: Sendable {
  /// The place of the folder.
  package let url: URL

  /// Creates a new folder in another one.
  package init(in parent: URL = FileManager.default.temporaryDirectory) throws {
    url = parent.appending(path: "session-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    // The system removes what a test leaves in its temporary folder.
    do { try FileManager.default.removeItem(at: url) } catch {}
  }

  /// The path of the journal.
  package var journal: String { url.appending(path: "a.journal").path }
  /// The path of the folder for secrets.
  package var secrets: String { url.appending(path: "secrets").path }

  /// Returns every record that is now in the journal, with its place in the file.
  package func entries() throws -> [(record: SessionRecord, offset: UInt64)] {
    var reader = try JournalReader(path: journal)
    var entries: [(SessionRecord, UInt64)] = []
    while let raw = try reader.next() {
      guard raw.kind != 0xFF else { continue }
      let record = try SessionCodec.decode(
        sequence: raw.sequence, kind: raw.kind, payload: raw.payload)
      entries.append((record, raw.offset))
    }
    return entries
  }

  /// Returns every record that is now in the journal.
  package func records() throws -> [SessionRecord] { try entries().map(\.record) }
}
