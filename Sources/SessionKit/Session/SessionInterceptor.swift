#if URLSession
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Makes protected calls with `URLSession`, with methods like those of `URLSession`.
///
/// ```swift
/// let api = SessionInterceptor(session)
/// let (data, response) = try await api.data(for: URLRequest(url: materials))
/// ```
/// ``Session/data(for:as:)`` does the same without any setup. Use an interceptor for a
/// `URLSessionConfiguration` of your own, for separate rules, or for traces.
///
/// Each call gets the session's token, or a newer one if that has expired. If the server refuses
/// the token, the call is sent again with a newer one (`Specs/Calls.md`). The response is
/// returned with any status. Redirects are followed, but the token is never sent to another origin.
///
/// No call waits without a limit. If no data arrives for the request's `timeoutInterval`, the call
/// throws `noReply`: the server may have acted. A response has a size and a time limit
/// (``CallRules/maximumResponseSize``, ``CallRules/timeout``). Token requests use another
/// `URLSession`, so a slow call does not delay them.
///
/// For other features of `URLSession`, such as a delegate for certificates, write a `CallClient` of
/// SessionHTTP.
///
/// - Requirement: INT-1, REF-4
public struct SessionInterceptor: Sendable {
  let calls: CallRunner<URLSessionCalls>

  /// Creates an interceptor for calls of a session.
  ///
  /// Keep one for the lifetime of the session, since it keeps connections.
  ///
  /// - Parameters:
  ///   - session: the session whose token the calls carry.
  ///   - configuration: the configuration of the `URLSession`. Its `protocolClasses` see the
  ///     request with its token. By default, no cookie, response or credential is kept. A cache
  ///     finds them by address, so it could show one user the responses of another. If you pass a
  ///     configuration with a cache or cookies, clear them at logout.
  ///   - rules: which calls carry the token, in which place, and what a call may cost. By default,
  ///     the configuration's ``SessionConfiguration/calls``.
  ///   - trace: receives each step of each call, on any thread. It must not block.
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

  /// Creates an interceptor with a shared client.
  init(_ session: Session, client: URLSessionCalls, rules: CallRules) {
    calls = session.run(client, rules: rules, trace: nil)
  }

  /// Makes a call and returns the whole response.
  ///
  /// A body that is a stream can be read only once. If its token is refused, the session gets a
  /// newer one for the next call, and this call returns the refusal.
  public func data(for request: URLRequest, as mark: CallMark = .byRules)
    async throws(SessionError) -> (Data, URLResponse)
  {
    try await send(URLSessionCalls.Call(request: request), mark)
  }

  /// Makes a call with this body, which is sent completely in each attempt.
  ///
  /// - Requirement: INT-3
  public func upload(for request: URLRequest, from body: Data, as mark: CallMark = .byRules)
    async throws(SessionError) -> (Data, URLResponse)
  {
    try await send(URLSessionCalls.Call(request: request, body: .data(body)), mark)
  }

  /// Makes a call with the content of a file as its body.
  ///
  /// Each attempt reads the file again.
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
  /// The identity of the backend, without the session.
  public var description: String { calls.description }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the description only, since `URLSession` holds the requests in progress.
  public var customMirror: Mirror { Mirror(self, children: ["calls": description]) }
}

extension SessionError {
  /// Creates the error that a call by `URLSession` throws.
  package init(ofCall error: any Error) {
    switch error {
    case let error as SessionError: self = error
    default: self = SessionError(connection: ConnectionFailure(error, hasAnswer: false))
    }
  }
}
#endif
