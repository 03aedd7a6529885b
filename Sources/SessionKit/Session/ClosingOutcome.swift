/// What goes on after a session object was closed.
///
/// - Requirement: SYN-5
public enum ClosingOutcome: Hashable, Sendable {
  /// Nothing.
  case complete
  /// The app still removes its local data (``SessionHost/sessionEnded(_:)``).
  ///
  /// If the process ends before that, the next opening calls it again.
  case clearingLocalData
}
