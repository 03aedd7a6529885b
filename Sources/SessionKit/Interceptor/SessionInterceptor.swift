public import Foundation

#if canImport(FoundationNetworking)
  public import FoundationNetworking
#endif

/// Protected calls by `URLSession`, in the shape of its own methods.
///
/// ```swift
/// let api = SessionInterceptor(session)
/// let (data, response) = try await api.data(for: URLRequest(url: materials))
/// ```
/// ``Session/data(for:as:)`` does the same with nothing to set up. An interceptor is for a
/// `URLSessionConfiguration` of your own, rules of its own, or traces.
///
/// Each call gets the session's token, a newer one first if it has expired, and is sent once more with
/// a newer one if the server refuses it (`Specs/Calls.md`). The response is returned whatever its
/// status. A redirect is followed; no redirect takes the token to another origin.
///
/// Nothing waits forever. A call that hears nothing for its request's `timeoutInterval` throws
/// `noReply`, which says that the server may have acted. A response has a size and a time limit
/// (``CallRules/maximumResponseSize``, ``CallRules/timeout``). Requests for tokens do not come this way, so no call in trouble delays one.
///
/// For more of `URLSession`, such as a delegate for certificates, write a `CallClient` of SessionHTTP.
///
/// - Requirement: INT-1, REF-4
public struct SessionInterceptor: Sendable {
  let calls: CallRunner<URLSessionCalls>

  /// Calls of a session; one of these for as long as it lives, since it keeps connections.
  ///
  /// - Parameters:
  ///   - session: whose token the calls carry.
  ///   - configuration: of the `URLSession`; its `protocolClasses` see the request with the token in
  ///     it. Without one, no cookie, answer or credential is kept: they are found again by
  ///     address, whoever is signed in by then, so that one user would be shown what another was
  ///     answered. Who passes one with a cache or cookies clears them at logout.
  ///   - rules: which calls get the token, where it travels, and what a call may cost. Without it, the
  ///     configuration's ``SessionConfiguration/calls``.
  ///   - trace: is told each step of each call, on whatever thread it happens; must not wait.
  /// - Requirement: INT-4
  public init(
    _ session: Session, configuration: URLSessionConfiguration? = nil,
    rules: CallRules? = nil, trace: (@Sendable (CallTrace) -> Void)? = nil
  ) {
    let rules = rules ?? session.configuration.calls
    let map = CallMap(rules, session.engine.configuration.backend)
    let client = URLSessionCalls(URLSessionLine(configuration ?? .withoutMemory, map))
    calls = session.run(client, rules: rules, trace: trace)
  }

  /// Calls by a client that others use too.
  init(_ session: Session, client: URLSessionCalls, rules: CallRules) {
    calls = session.run(client, rules: rules, trace: nil)
  }

  /// Makes a call and returns the whole answer.
  ///
  /// A body that is a stream can be read but once: if its token is refused, a newer one is got for
  /// the next call, and the refusal is returned.
  public func data(for request: URLRequest, as mark: CallMark = .byRules)
    async throws(SessionError) -> (Data, URLResponse)
  {
    try await send(URLSessionCalls.Call(request: request), mark)
  }

  /// Makes a call with this body, which arrives whole each time that it is sent.
  ///
  /// - Requirement: INT-3
  public func upload(for request: URLRequest, from body: Data, as mark: CallMark = .byRules)
    async throws(SessionError) -> (Data, URLResponse)
  {
    try await send(URLSessionCalls.Call(request: request, body: .data(body)), mark)
  }

  /// Makes a call with the content of a file as its body, read anew each time that it is sent.
  public func upload(for request: URLRequest, fromFile file: URL, as mark: CallMark = .byRules)
    async throws(SessionError) -> (Data, URLResponse)
  {
    try await send(URLSessionCalls.Call(request: request, body: .file(file)), mark)
  }

  private func send(_ call: URLSessionCalls.Call, _ mark: CallMark) async throws(SessionError)
    -> (Data, URLResponse)
  {
    do {
      let answer = try await calls.send(call, as: mark)
      return (answer.data, answer.response)
    } catch {
      throw SessionError(ofCall: error)
    }
  }
}

extension SessionInterceptor: CustomStringConvertible, CustomDebugStringConvertible,
  CustomReflectable
{
  /// The host alone.
  public var description: String { calls.description }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the description only: `URLSession` holds the requests that are under way.
  public var customMirror: Mirror { Mirror(self, children: ["calls": description]) }
}

extension SessionError {
  /// What a call by `URLSession` threw.
  package init(ofCall error: any Error) {
    switch error {
    case let error as SessionError: self = error
    default: self = SessionError(connection: ConnectionFailure(error, hasAnswer: false))
    }
  }
}
