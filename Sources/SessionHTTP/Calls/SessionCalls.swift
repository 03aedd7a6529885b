import SessionCore
public import SessionKit

/// Protected calls of one session by one HTTP client: the same rule for whatever carries them.
///
/// ```swift
/// let calls = session.calls(by: TransportCalls())
/// let response = try await calls.send(HTTPRequest(method: "GET", url: materials))
/// ```
/// A call gets the session's token; where that has expired, a newer one first; where the server
/// refuses it, a newer one once, by a refresh that all share. `Specs/Calls.md` has the rule.
///
/// - Requirement: INT-1, INT-2, INT-3
public struct SessionCalls<Client: CallClient>: Sendable {
  private let runner: CallRunner<ClientCarrier<Client>>

  init(_ runner: CallRunner<ClientCarrier<Client>>) {
    self.runner = runner
  }

  /// Makes a call, a second time if the rule says so, and returns the response whatever its status.
  ///
  /// Throws what the client throws, and a `SessionError` if there is no token for the call:
  ///
  /// - `notLoggedIn`, `expired` and `loggedOut` if there is no session for it, or not any more.
  /// - `noConnection`, `noReply`, `serverFailure` … if its refresh failed; the session is what it was.
  /// - `refused` without a status if it cannot carry the token.
  /// - `cancelled` if its task was cancelled while it waited.
  public func send(_ request: Client.Request, as mark: CallMark = .byRules) async throws
    -> Client.Response
  {
    try await runner.send(request, as: mark)
  }
}

extension SessionCalls: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The host alone.
  public var description: String { runner.description }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the description only: a client may hold requests that are under way.
  public var customMirror: Mirror { Mirror(self, children: ["calls": description]) }
}

extension Session {
  /// Protected calls by an HTTP client of the app's choice.
  ///
  /// Without `rules`, the configuration's ``/SessionKit/SessionConfiguration/calls`` hold; their limits of size and
  /// time do not, since the client has its own. `trace` receives each step of each call, on any thread. It must
  /// not wait.
  ///
  /// - Requirement: INT-1, INT-2, INT-3, INT-4
  public func calls<Client: CallClient>(
    by client: Client, rules: CallRules? = nil,
    trace: (@Sendable (CallTrace) -> Void)? = nil
  ) -> SessionCalls<Client> {
    let rules = rules ?? configuration.calls
    return SessionCalls(run(ClientCarrier(client: client), rules: rules, trace: trace))
  }
}

/// An app's client as what the rule of calls knows.
struct ClientCarrier<Client: CallClient>: CallCarrier {
  let client: Client

  func outline(of request: Client.Request, token place: CallTokenPlace) -> CallOutline {
    client.head(of: request, token: place).outline
  }

  func authorize(_ request: inout Client.Request, with token: CarriedToken) throws {
    try client.authorize(&request, with: CallToken(token))
  }

  func send(_ request: Client.Request) async throws -> Client.Response {
    try await client.send(request)
  }

  func status(of response: Client.Response) -> Int? { client.status(of: response) }

  func content(of response: Client.Response) -> CallResponse {
    let response = client.answer(response)
    return CallResponse(
      status: response.status, fields: response.headers.map { ($0.name, $0.value) },
      body: response.body)
  }

  func mayPass(_ error: any Error) -> Bool { client.mayPass(error) }
}
