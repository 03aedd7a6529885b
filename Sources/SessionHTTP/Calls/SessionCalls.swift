import SessionCore
public import SessionKit

/// Makes protected calls of one session with one HTTP client, by the same rules for every client.
///
/// ```swift
/// let calls = session.calls(by: TransportCalls())
/// let response = try await calls.send(HTTPRequest(method: "GET", url: materials))
/// ```
/// A call gets the session's token, or a newer one if that has expired. If the server refuses the
/// token, the call gets a newer one, once. All calls share that refresh. `Specs/Calls.md` has the
/// rules.
///
/// - Requirement: INT-1, INT-2, INT-3
public struct SessionCalls<Client: CallClient>: Sendable {
  private let runner: CallRunner<ClientCarrier<Client>>

  init(_ runner: CallRunner<ClientCarrier<Client>>) {
    self.runner = runner
  }

  /// Makes a call, and repeats it if the rules say so.
  ///
  /// Returns the response with any status.
  ///
  /// It throws the errors of the client. It throws a `SessionError` if there is no token for the
  /// call:
  ///
  /// - `notLoggedIn`, `expired` and `loggedOut` if it has no session, or its session is over.
  /// - `noConnection`, `noReply`, `serverFailure` … if its refresh failed. The session is
  ///   unchanged.
  /// - `refused` without a status if the call cannot carry the token.
  /// - `cancelled` if its task was cancelled during a wait.
  public func send(_ request: Client.Request, as mark: CallMark = .byRules) async throws
    -> Client.Response
  {
    try await runner.send(request, as: mark)
  }
}

extension SessionCalls: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The identity of the backend, without the client.
  public var description: String { runner.description }

  /// The same as the description.
  public var debugDescription: String { description }

  /// A mirror that shows the description only, since a client may hold requests in progress.
  public var customMirror: Mirror { Mirror(self, children: ["calls": description]) }
}

extension Session {
  /// Returns an object that makes protected calls with an HTTP client of the app's choice.
  ///
  /// By default, the calls follow the configuration's `calls`, except its limits of size and time: the
  /// client has its own. `trace` receives each step of each call, on any thread. It must not block.
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

/// Adapts an app's client to the rules of calls.
struct ClientCarrier<Client: CallClient>: CallCarrier {
  let client: Client

  func head(of request: Client.Request, token place: CallTokenPlace) -> CallHead {
    client.head(of: request, token: place)
  }

  func authorize(_ request: inout Client.Request, with token: CallToken) throws {
    try client.authorize(&request, with: token)
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

  func isTransient(_ error: any Error) -> Bool { client.isTransient(error) }
}
