import Foundation
@_spi(Internals) import SessionCore
import SessionJournal

/// The place of a journal: a file, which may lie in the session's own directory.
struct FilePlace: LogPlace {
  /// The absolute path of the journal.
  var path: String

  /// The directory that an opening creates; `nil` if only the journal's path was given.
  private(set) var directory: URL?

  /// The options of the journal: its file system, and the identifier of a new journal.
  ///
  /// The lock's deadline is how long a session tries; each try is short (``shortTry``).
  var options = JournalOptions()

  var presence = OpeningPresence.system

  /// Creates the place of a journal whose folder must exist.
  init(path: String) { self.path = path }

  /// Creates the place of the journal in a session's directory.
  init(directory: URL) {
    let folder = Self.path(of: directory)
    path = (folder == "/" ? "" : folder) + "/session.journal"
    self.directory = directory
  }

  /// Returns the path of a directory without a slash at its end.
  static func path(of directory: URL) -> String {
    var path = directory.absoluteURL.path(percentEncoded: false)
    while path.count > 1, path.last == "/" { path.removeLast() }
    return path
  }

  /// How long one try waits for the lock.
  ///
  /// Long enough for a commit of another process, short enough for a thread that many sessions
  /// share.
  static let shortTry = Duration.milliseconds(10)

  /// The options with which the session uses the journal: no call waits long for the lock.
  private var shortOptions: JournalOptions {
    var options = options
    options.lockDeadline = min(options.lockDeadline, Self.shortTry)
    return options
  }

  var name: String { path }
  var file: String? { path }
  var deadline: Duration {
    get { options.lockDeadline }
    set { options.lockDeadline = newValue }
  }

  func findLog() -> LogPresence { Journal.presence(at: path, options: options) }

  var looksAbsent: Bool {
    do throws(JournalError) {
      return try Journal.identity(at: path, options: options) == nil
    } catch {
      return error.isOfMissingFile
    }
  }

  var isLocal: Bool { ChangeNotifier.reportsAll(of: path) != false }

  func read(replay: (RecordHeader, RawSpan) -> Void) throws(JournalError) -> OpenedLog? {
    let journal = try Journal.read(at: path, options: shortOptions) { frame, payload in
      replay(frame.record, payload)
    }
    return journal.map { OpenedLog($0, proven: $0.recovery.provenSequence) }
  }

  func open(replay: (RecordHeader, RawSpan) -> Void) throws(JournalError) -> OpenedLog {
    let journal = try Journal.open(at: path, options: shortOptions) { frame, payload in
      replay(frame.record, payload)
    }
    return OpenedLog(
      journal, tailCut: journal.recovery.repair.flatMap { SessionNote.TailCut($0.ending) },
      proven: journal.recovery.provenSequence)
  }

  func beginPresence(boot: Identifier?) -> OpeningPresence {
    presence(path, options, boot)
  }

  func check() throws(SessionError) {
    guard let directory else { return }
    guard directory.isFileURL, Self.path(of: directory).first == "/" else {
      // The URL itself may hold a password.
      throw .wrongAddress("the session's directory is not a file URL with an absolute path")
    }
  }

  func isNamed(_ name: String) -> Bool { SecretsPlace(name) == SecretsPlace(path) }

  func owner(of identifier: String, named name: String) -> SecretsOwner {
    guard !name.contains("://") else {
      // The log of another server. Nothing that this system can read would prove that it is gone.
      return .unknown(name, .unavailable(path: name, problem: "it is not a file"))
    }
    let presence = Journal.presence(at: name, options: options)
    if presence.identifier == identifier { return .current(name) }
    // The identifier decides who owns the items. The path only says where that journal was.
    if let moved = SecretsPlace.candidates(for: name, near: path).first(where: {
      Journal.presence(at: $0, options: options).identifier == identifier
    }) {
      return .current(moved)
    }
    return switch presence {
    case .present: .replaced(name)
    case .absent: .gone(name)
    case .unknown(let problem): .unknown(name, problem)
    }
  }

  func history() throws(SessionError) -> SessionHistory {
    try history(ofFile: path)
  }

  func history(ofFile path: String) throws(SessionError) -> SessionHistory {
    try SessionHistory(path: path, options)
  }

  func records(after sequence: UInt64, limit: Int) throws(JournalError) -> [JournalRecord] {
    var reader = try JournalReader(path: path, fileSystem: options.fileSystem)
    var records: [JournalRecord] = []
    while records.count < limit, let record = try reader.next() {
      if record.sequence > sequence { records.append(record) }
    }
    return records
  }

  var quarantine: (any LogQuarantine)? {
    FileQuarantine(path: path, options: shortOptions)
  }
}

/// Moves journals that cannot be used aside, next to their place.
private struct FileQuarantine: LogQuarantine {
  let path: String
  let options: JournalOptions

  func mark() throws(JournalError) -> FileStatus.Identity? {
    try Journal.identity(at: path, options: options)
  }

  func setAside(_ mark: FileStatus.Identity, at time: String) throws(SessionError) {
    let read: QuarantinedJournal?
    do throws(SessionError) {
      read = try QuarantinedJournal.read(path, options)
    } catch {
      guard case .missing? = error.journalError else { throw error }
      return
    }
    guard let unusable = read else { return }
    do throws(JournalError) {
      _ = try Journal.setAside(
        path, mark, reason: unusable.link.cause.description, time: time, options: options)
    } catch {
      throw .journal(error)
    }
  }

  var hasSetAside: Bool {
    do throws(JournalError) {
      return try Journal.lastSetAside(at: path, options: options) != nil
    } catch {
      return false
    }
  }

  func predecessor() throws(SessionError) -> QuarantinedJournal? {
    let aside: SetAsideJournal?
    do throws(JournalError) {
      aside = try Journal.lastSetAside(at: path, options: options)
    } catch {
      throw .journal(error)
    }
    return try aside.flatMap { (aside) throws(SessionError) in
      try QuarantinedJournal.read(aside.path, options)
    }
  }
}

extension SessionNote.TailCut {
  /// Creates a note of what a journal's recovery cut off; `nil` if it cut nothing.
  init?(_ ending: JournalEnding) {
    switch ending {
    case .clean, .damaged: return nil
    case .torn(let tail): self.init(bytes: tail.bytes, isUndetermined: false)
    case .undetermined(let tail): self.init(bytes: tail.bytes, isUndetermined: true)
    }
  }
}
