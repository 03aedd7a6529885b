@_spi(Internals) import SessionCore
import SessionJournal

/// The place of a session's log, as the engine uses it.
///
/// Only a file has most of this: a directory, records that were cut off, journals that are set
/// aside. So each such requirement has a default that says "there is none". The engine asks the
/// place, and does not know what kind of log it is.
///
/// - Requirement: SCL-1
protocol LogPlace: Sendable {
  /// The name of the log, as stored items and messages have it.
  var name: String { get }

  /// How long a session tries to get the log while another opening has it.
  var deadline: Duration { get set }

  /// Creates the presence of an opening, which distinguishes it from other openings.
  var presence: OpeningPresence.Maker { get set }

  /// Returns whether the log is here.
  func findLog() -> LogPresence

  /// Whether no log is here at a first look, which takes a few system calls and proves nothing.
  var looksAbsent: Bool { get }

  /// Whether only this system's own disk can make a call to the log wait.
  ///
  /// Asked after the log was opened.
  var isLocal: Bool { get }

  /// Opens a log that is here without changing anything; `nil` if it must be opened by `open`.
  ///
  /// `replay` receives records even if the result is `nil`; they do not count then.
  func read(replay: (RecordHeader, RawSpan) -> Void) throws(JournalError) -> OpenedLog?

  /// Opens the log, and creates it if it is absent; `replay` receives every record.
  func open(replay: (RecordHeader, RawSpan) -> Void) throws(JournalError) -> OpenedLog

  /// Creates the presence of an opening; `boot` is the start of this system.
  func beginPresence(boot: Identifier?) -> OpeningPresence

  /// Returns the owner of items that name another log than this one.
  ///
  /// - Parameters:
  ///   - identifier: the identifier of the log that the items name.
  ///   - name: the name of that log.
  func owner(of identifier: String, named name: String) -> SecretsOwner

  /// Reads what the log holds, without a session.
  func history() throws(SessionError) -> SessionHistory

  /// Reads a page of records of a log whose session is closed.
  func records(after sequence: UInt64, limit: Int) throws(JournalError) -> [JournalRecord]

  /// Whether the log may store secrets too, and take them back with a batch that fails.
  var mayTakeSecretsBack: Bool { get }

  // MARK: What only files have

  /// The path of the log's file; `nil` if it is no file.
  var file: String? { get }

  /// Where logs that cannot be used are set aside; `nil` if they never are.
  var quarantine: (any LogQuarantine)? { get }

  /// Throws if there can be no log at the place; asks no system.
  func check() throws(SessionError)

  /// Creates what the log lies in, unless the stored items show that a log is missing.
  func prepare(for secrets: any SecretStore) throws(SessionError)

  /// Whether a stored name means this place.
  func isNamed(_ name: String) -> Bool

  /// Reads a log in a file that was set aside.
  func history(ofFile path: String) throws(SessionError) -> SessionHistory
}

extension LogPlace {
  func read(replay: (RecordHeader, RawSpan) -> Void) throws(JournalError) -> OpenedLog? { nil }
  var looksAbsent: Bool { false }
  var isLocal: Bool { false }
  var mayTakeSecretsBack: Bool { false }
  var file: String? { nil }
  var quarantine: (any LogQuarantine)? { nil }
  func check() throws(SessionError) {}
  func prepare(for secrets: any SecretStore) throws(SessionError) {}
  func isNamed(_ name: String) -> Bool { name == self.name }

  func history(ofFile path: String) throws(SessionError) -> SessionHistory {
    try SessionHistory(path: path)
  }
}

/// Sets logs aside that cannot be used.
///
/// - Requirement: RES-6, RES-9
protocol LogQuarantine: Sendable {
  /// Returns what is at the place now; `nil` if nothing is.
  func mark() throws(JournalError) -> FileStatus.Identity?

  /// Moves the log aside if it is still what was marked and cannot be used; `time` becomes part of
  /// its new name.
  func setAside(_ mark: FileStatus.Identity, at time: String) throws(SessionError)

  /// Whether a log was set aside here before.
  var hasSetAside: Bool { get }

  /// Returns the log that was set aside last; `nil` if there is none.
  func predecessor() throws(SessionError) -> QuarantinedJournal?
}

/// A log that was opened, and what opening found.
struct OpenedLog {
  /// The opening.
  let log: any SessionLog
  /// What was cut off because it was never acknowledged; `nil` if nothing was.
  let tailCut: SessionNote.TailCut?
  /// The last sequence that was acknowledged for certain.
  let provenSequence: UInt64

  /// Without `proven`, all that was read counts as acknowledged.
  init(_ log: any SessionLog, tailCut: SessionNote.TailCut? = nil, proven: UInt64? = nil) {
    (self.log, self.tailCut) = (log, tailCut)
    provenSequence = proven ?? log.lastSequence
  }
}

extension LogPresence {
  /// The identifier of the log that is there; `nil` if none is known to be.
  var identifier: String? {
    if case .present(let identifier) = self { identifier.description } else { nil }
  }
}
