import SessionCore

/// The tokens to revoke that are not stored, and the revocations under way.
struct RevocationTable: Sendable {
  /// The tokens of sessions that have ended, until what their revocation needs is stored.
  var tokens: [Generation: StoredToken] = [:]
  /// The entries of revocations that could not be stored.
  var unstored: [Generation: StoredRevocations.Entry] = [:]
  /// Whether a revocation of a logout begins no further request, since the session closes.
  private(set) var isStopped = false
  /// The number of revocations of logouts under way.
  private var runCount = 0
  /// The number of their requests under way.
  private var requestCount = 0
  /// Calls of `close()` that wait for these revocations.
  private var runWaiters = WaiterTable<Void>()
  /// Calls of `close()` that wait for these requests.
  private var requestWaiters = WaiterTable<Void>()

  /// Whether this process still has the tokens, wherever they are stored.
  func holds(_ generation: Generation) -> Bool {
    tokens[generation] != nil || unstored[generation] != nil
  }

  /// Forgets the tokens of a revocation that has ended.
  mutating func forget(_ generation: Generation) {
    tokens[generation] = nil
    unstored[generation] = nil
  }

  // MARK: Revocations

  var isRunning: Bool { runCount > 0 }

  mutating func beginRun() { runCount += 1 }

  mutating func endRun() {
    runCount -= 1
    if !isRunning { endRunWaits() }
  }

  /// Waits for the end of all revocations, or for ``endRunWaits()``.
  mutating func awaitRuns(_ continuation: CheckedContinuation<Void, Never>) {
    runWaiters.begin(continuation)
  }

  mutating func endRunWaits() { runWaiters.endAll(with: ()) }

  /// Lets no revocation begin a further request.
  mutating func stop() { isStopped = true }

  // MARK: Requests

  var isRequesting: Bool { requestCount > 0 }

  mutating func beginRequest() { requestCount += 1 }

  mutating func endRequest() {
    requestCount -= 1
    if !isRequesting { requestWaiters.endAll(with: ()) }
  }

  /// Waits for the end of all requests.
  mutating func awaitRequests(_ continuation: CheckedContinuation<Void, Never>) {
    requestWaiters.begin(continuation)
  }
}
