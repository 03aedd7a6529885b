import SessionCore
import SessionJournal

/// The last moment before a request leaves.
///
/// - Requirement: REF-11
extension SessionEngine {
  /// Whether the request may leave; a login may, whatever others did.
  func mayLeave(_ number: RequestNumber, _ request: SessionEffect.Request) -> Bool {
    if case .login = request { return true }
    return mayLeave(number)
  }

  /// Reads the journal again and asks the coordinator whether the request may leave.
  ///
  /// Called directly before the transport gets the request: another process may have ended the session
  /// since the intent became durable. Between this and the first byte lies a window that no lock closes
  /// (Specs/FaultModel.md).
  func mayLeave(_ number: RequestNumber) -> Bool {
    do throws(JournalError) {
      // Each read is of what was appended during the one before: that ends soon, or is not waited for.
      var reads = 0
      while reads < 8, try journal.hasNews() {
        try takeInOthers()
        reads += 1
      }
    } catch {
      // It is not known what others did: nothing is sent.
      loseJournal(by: error)
      commitError = .journal(error)
      requests[number] = nil
      feed(.unobserved)
      return false
    }
    feed(.leaving(number))
    let mayLeave = coordinator.mayLeave(number)
    if !mayLeave { requests[number] = nil }
    return mayLeave
  }
}
