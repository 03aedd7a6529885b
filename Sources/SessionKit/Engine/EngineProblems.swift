import SessionCore

/// Why the last work of each kind failed, for the errors that callers receive.
struct EngineProblems: Sendable {
  /// Why the last commit failed; `nil` after one succeeded.
  var commit: SessionError?
  /// The error that prevented the last response from being stored.
  var unstored: SessionError?
  /// Why the stored items may not be used, as of the last read.
  ///
  /// They are of a newer version or of another session.
  var secrets: SessionError?
  /// Why the last compaction failed; `nil` after one succeeded.
  var compaction: SessionError?
  /// A detail of the last failed request, for the replies that follow from it.
  var detail: String?
  /// Why the last sign-in failed, and the error that the session shows for it.
  private var login: (problem: CommandFailure, error: SessionError)?

  /// Returns the error that is shown for this failure of a sign-in; `nil` if none is shown yet.
  func shownError(of problem: CommandFailure) -> SessionError? {
    login?.problem == problem ? login?.error : nil
  }

  /// Keeps the error that is shown for a failure of a sign-in.
  mutating func show(_ error: SessionError, of problem: CommandFailure) {
    login = (problem, error)
  }

  /// Forgets the last failure of a sign-in.
  mutating func clearLogin() { login = nil }
}
