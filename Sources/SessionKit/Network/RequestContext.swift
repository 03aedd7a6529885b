@_spi(Internals) public import SessionCore

/// What a session knows of a request to its backend, in addition to what the request asks for.
///
/// A backend that passes requests on to another one passes it on too. No description shows the
/// access token.
public struct RequestContext: Sendable {
  /// The time limit of the whole request, after which the session cancels its task.
  public var timeout: Duration
  /// The access token that the response replaces; `nil` if it replaces none.
  public var access: Secret?
  /// The lifetime of that token when it was issued, for a response that states none.
  public var lifetimeBefore: Duration?
  /// The user to whom the response should belong; `nil` if any user may log in.
  public var user: Identifier? { expected?.id }
  /// That user, with the source that named the user.
  package var expected: ExpectedUser?
  package var clock: any SessionClock = SystemClock()
  /// The key to which the token of the request is bound; `nil` for a bearer token.
  package var boundKey: Identifier?
  /// What proves possession in a login that another module performs.
  package var proof: ProofOfPossession?
  package var mayLeave: @Sendable () async -> Bool = { true }

  /// Creates the context of a request that no session makes, such as in a test of a backend.
  public init(
    timeout: Duration = .seconds(30), access: Secret? = nil, lifetimeBefore: Duration? = nil,
    user: Identifier? = nil
  ) {
    (self.timeout, self.access, self.lifetimeBefore) = (timeout, access, lifetimeBefore)
    expected = user.map { ExpectedUser(id: $0) }
  }

  /// The time by the session's clock, for an instant that cannot be measured by the server's.
  public var now: Timestamp { clock.now().time }

  /// Returns whether the request may still be sent, for a backend that needs time to prepare it.
  ///
  /// Another process may have ended the session meanwhile.
  ///
  /// - Requirement: REF-11
  public func mayBeSent() async -> Bool { await mayLeave() }
}
