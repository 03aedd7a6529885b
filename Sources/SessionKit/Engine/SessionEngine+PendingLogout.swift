import SessionCore
import SessionJournal

/// The last check before a request is sent.
///
/// - Requirement: REF-11
extension SessionEngine {
  /// Returns whether the request may be sent.
  ///
  /// A login always may.
  func mayLeave(_ number: RequestNumber, _ request: SessionEffect.Request) -> Bool {
    if case .login = request { return true }
    return mayLeave(number)
  }

  /// Reads the journal again and asks the coordinator whether the request may be sent.
  ///
  /// It is called directly before the transport gets the request, since another process may have
  /// ended the session after the intent became durable. Between this check and the first byte is a
  /// window that no lock closes (Specs/FaultModel.md).
  func mayLeave(_ number: RequestNumber) -> Bool {
    do throws(JournalError) {
      // Each read covers what was appended during the one before. This ends soon, or after eight
      // reads.
      var reads = 0
      while reads < 8, try journal.hasNews() {
        try takeInOthers()
        reads += 1
      }
    } catch {
      // It is not known what the peers did, so nothing is sent.
      loseJournal(by: error)
      problems.commit = .journal(error)
      requests.end(number)
      feed(.unobserved)
      return false
    }
    feed(.leaving(number))
    let mayLeave = coordinator.mayLeave(number)
    if !mayLeave { requests.end(number) }
    return mayLeave
  }
}
