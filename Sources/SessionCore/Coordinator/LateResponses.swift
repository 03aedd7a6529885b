/// What happens to the response of a request that is no longer the current one.
///
/// ```
///            abandon, supersede, spare                 end: the response or failure arrives
///  unknown ─────────────────────────────▶ marked ──────────────────────────────────────────▶ unknown
///     │                                     │ ▲
///     │ adopt                               └─┘ abandon, supersede, spare
///     ▼
///  adopted ──── end: spared, and it stays adopted
/// ```
///
/// A request has any of these marks, and loses all but *adopted* when its response or failure arrives.
///
/// | mark | set when | tokens | journal |
/// | --- | --- | --- | --- |
/// | abandoned | the session ended, or the caller of a login is gone | are revoked | – |
/// | superseded | another process's token came first | – | says that the response is unused |
/// | spared | the session ended on this device only | are not revoked | – |
/// | adopted | a login takes over the tokens of the app's old layer | are never revoked | – |
///
/// - Of *abandoned* and *spared*, *spared* decides.
/// - The end of a superseded request is journaled. A server that saw the older token again may revoke the
///   newer one too, and nothing else would record the cause.
/// - Adopted tokens may be offered again, and belong to the app's old layer.
///
/// - Requirement: LOG-9, OUT-4, OUT-7, RPL-6
struct LateResponses: Hashable, Sendable {
  // A token that came too late has a note of its own, `answerUnused`: `requestEnded` names a
  // failure, and a token is none. A reader of an older version ignores it and reports that the
  // response was lost, which claims less. Such a token is not revoked, since the server may end the
  // family with it.

  /// What is known of a request whose response has arrived.
  struct Fate: Hashable, Sendable {
    /// Whether its tokens are revoked, even if a user is logged in.
    fileprivate(set) var isAbandoned = false
    /// Whether its tokens are not revoked.
    fileprivate(set) var isSpared = false
    /// The sequence of its intent, if another process's token superseded it.
    fileprivate(set) var intent: UInt64?
  }

  private var fates: [RequestNumber: Fate] = [:]
  private var adopted: Set<RequestNumber> = []

  /// Whether the tokens of this request are not revoked.
  func isSpared(_ request: RequestNumber) -> Bool {
    adopted.contains(request) || fates[request]?.isSpared == true
  }

  /// Records that the request takes over the tokens of the app's old layer.
  mutating func adopt(_ request: RequestNumber) { adopted.insert(request) }

  /// Records that the request's tokens are to be revoked.
  mutating func abandon(_ request: RequestNumber) {
    fates[request, default: Fate()].isAbandoned = true
  }

  /// Records that another process's token came before the response to this request.
  mutating func supersede(_ request: RequestNumber, intent: UInt64) {
    fates[request, default: Fate()].intent = intent
  }

  /// Records that the request's tokens are not to be revoked.
  mutating func spare(_ request: RequestNumber) {
    fates[request, default: Fate()].isSpared = true
  }

  /// Spares all superseded requests: a logout of this device only revokes nothing.
  mutating func spareSuperseded() {
    for (request, fate) in fates where fate.intent != nil { fates[request]?.isSpared = true }
  }

  /// Forgets a request whose response or failure has arrived; returns what was known of it.
  @discardableResult
  mutating func end(_ request: RequestNumber) -> Fate {
    var fate = fates.removeValue(forKey: request) ?? Fate()
    if adopted.contains(request) { fate.isSpared = true }
    return fate
  }
}
