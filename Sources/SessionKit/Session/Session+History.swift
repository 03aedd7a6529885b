public import Foundation
@_spi(Internals) public import SessionCore

// The records of a journal, for explanations and reports (RPL-8).
extension Session {
  /// Reads what the session's journal holds now: events, notes, a snapshot, and the places at which
  /// records are lost.
  ///
  /// It reads a file without a lock, on a thread that no session's requests need. A log that is no
  /// file is opened for it. All records that were acknowledged before the call are in the result. It
  /// also works after the session was closed. If another journal has taken the place of this one, it
  /// reads that one.
  ///
  /// Damage is no error: the history has what can be read, and `SessionHistory.damage`.
  ///
  /// All records are in memory at once, about one kilobyte each.
  ///
  /// Throws `storage` if the file cannot be read, or if not even its header can be verified.
  /// - Requirement: RPL-8
  public func history() async throws(SessionError) -> SessionHistory {
    try await Self.history(of: configuration)
  }

  /// Reads what the journal of a configuration holds, also if its session cannot be opened.
  ///
  /// It changes nothing and creates nothing. ``history()`` says what the result has.
  ///
  /// Throws `storage` if the file is missing or cannot be read, or if not even its header can be
  /// verified. Throws `refused` if the directory is no file URL with an absolute path.
  /// - Requirement: RPL-8
  public static func history(of configuration: SessionConfiguration)
    async throws(SessionError) -> SessionHistory
  {
    let place = configuration.place
    try place.check()
    return try await read(configuration) { () throws(SessionError) in try place.history() }
  }

  /// Reads what a journal holds that was moved aside, such as ``journalSetAside``.
  ///
  /// - Parameters:
  ///   - journal: a file URL of the journal.
  ///   - configuration: how files are read; its own journal is not read.
  ///
  /// Throws as ``history(of:)`` does.
  /// - Requirement: RPL-8, RES-6
  public static func history(at journal: URL, _ configuration: SessionConfiguration)
    async throws(SessionError) -> SessionHistory
  {
    guard journal.isFileURL else {
      // The URL itself may hold a password.
      throw .wrongAddress("the journal is not a file URL")
    }
    let (path, place) = (journal.absoluteURL.path(percentEncoded: false), configuration.place)
    return try await read(configuration) { () throws(SessionError) in
      try place.history(ofFile: path)
    }
  }

  /// Reads on a thread that no session's requests need.
  private static func read(
    _ configuration: SessionConfiguration,
    _ read: @escaping @Sendable () throws(SessionError) -> SessionHistory
  ) async throws(SessionError) -> SessionHistory {
    try await configuration.runtime().forLongReads
      .result(within: configuration.place.deadline, of: read)
  }
}
