@_spi(Internals) import SessionChangeQueue
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit

/// A damaged change log that was quarantined.
///
/// The changes that could be read continue in a new file.
///
/// Records may be missing from it. So the app should check three things with the user:
///
/// - changes that were lost with their records.
/// - dead letters with the cause ``/SessionChangeQueue/DeadLetterCause/endUnknown``, which the server may have
///   accepted;
/// - pending changes, which may be sent again with their old keys.
/// - Requirement: SYN-6
public struct QuarantinedChangeLog: Equatable, Sendable {
  /// The path of the damaged file.
  ///
  /// It stays until a logout clears the log or the log is removed.
  public let path: String
  /// Why it could not be used.
  public let problem: ChangeLogError
  /// The number of changes that were found in it, dead letters included.
  public let recoveredCount: Int

  /// Moves the file at `path` aside if it still is the one that was read.
  static func setAside(
    _ path: String, _ identity: FileStatus.Identity, _ setup: ChangeLog.Setup
  ) throws(ChangeLogError) {
    let time = setup.clock.now().time.description
      .prefix { $0 != "." }.filter { $0.isLetter || $0.isNumber }
    try ChangeStore.onJournal { () throws(JournalError) in
      _ = try Journal.setAside(
        path, identity, reason: "damaged", time: time + "Z", options: setup.options)
    }
  }

  /// Returns the log that was quarantined last next to `path`, and what can be read of it.
  static func last(at path: String, _ setup: ChangeLog.Setup) throws(ChangeLogError)
    -> (QuarantinedChangeLog, ChangeRecovery)?
  {
    let aside = try ChangeStore.onJournal { () throws(JournalError) in
      try Journal.lastSetAside(at: path, options: setup.options)
    }
    guard let aside else { return nil }
    var reading = Reading(path: aside.path)
    do throws(JournalError) {
      var reader = try JournalReader(path: aside.path, fileSystem: setup.options.fileSystem)
      try reader.visit { frame, payload in
        reading.take(frame, payload)
        return true
      }
      let survey = try reader.survey()
      if case .damaged(let damage) = survey.ending {
        reading.note(.journal(.damaged(path: aside.path, damage)))
      }
      for run in survey.runs {
        reading.recovery.skip()
        try reader.visit(run) { frame, payload in
          reading.take(frame, payload)
          return true
        }
      }
    } catch {
      // If the header of a file cannot be read, nothing can.
      guard error.isOfUnusableFile else { throw .journal(error) }
      reading.note(.journal(error))
    }
    guard let problem = reading.problem else { return nil }
    reading.recovery.skip()
    let quarantined = QuarantinedChangeLog(
      path: aside.path, problem: problem,
      recoveredCount: reading.recovery.queue.unsentCount)
    return (quarantined, reading.recovery)
  }

  private struct Reading {
    let path: String
    var recovery = ChangeRecovery()
    private(set) var problem: ChangeLogError?
    /// The queue of a strict reader, up to the first record that it rejects.
    private var strict = ChangeQueue()

    init(path: String) {
      self.path = path
    }

    mutating func note(_ found: ChangeLogError) {
      if problem == nil { problem = found }
    }

    mutating func take(_ frame: JournalFrame, _ payload: RawSpan) {
      if problem == nil {
        do throws(ChangeLogError) {
          try strict.take(frame.sequence, frame.kind, payload, path)
        } catch {
          note(error)
          recovery.skip()
        }
      }
      do throws(CodecError) {
        if let record = try ChangeCodec.decode(
          sequence: frame.sequence, kind: frame.kind, payload: payload)
        {
          recovery.apply(record)
        }
      } catch {
        // The problem is recorded above with its sequence. The records after it are read without
        // it.
      }
    }
  }
}

extension ChangeLogError {
  /// Whether the file is there and can be read, but its records cannot be used.
  ///
  /// A file that a newer version wrote, or that belongs to a session, is not damaged.
  var isOfDamagedLog: Bool {
    switch self {
    case .journal(.newerFormat), .journal(.unknownFeatures): false
    case .journal(let error): error.isOfUnusableFile
    case .unusable: true
    default: false
    }
  }
}
