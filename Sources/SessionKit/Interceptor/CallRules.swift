public import Foundation

/// The rules for calls: which ones carry the session's token, in which place, and what a call may
/// cost.
///
/// They work with any ``AuthBackend``. An `HTTPBackend` provides the defaults:
///
/// - The token belongs to the origin (scheme, host and port) of the backend's address.
/// - Its endpoints for signing in, registering, social login, refreshing and revoking are left
///   alone.
///
/// A backend of your own provides none, so name the ``origins``. A call to another origin is sent
/// unchanged. No other path is public unless the app names it.
///
/// The `failures` of an `HTTPBackend` define which responses refuse the token. For a backend of
/// your own, the standard rules (`FailureRule.standard`) and its ``AuthBackend/errorCodes`` do.
///
/// - Requirement: INT-5, INT-6, REF-13, INT-3
public struct CallRules: Hashable, Sendable {
  /// Paths whose calls carry no token, with any method; none by default.
  ///
  /// They are relative to the backend's address, or to each of the ``origins`` if the backend has
  /// no address.
  ///
  /// `status` matches this path only, and `auth/*` matches every path below `auth`. A pattern with
  /// a query matches calls with the same query. A pattern without one matches calls with any query.
  public var publicPaths: [String] = []
  /// Further origins to which the token belongs, such as that of a file store.
  ///
  /// Paths are ignored.
  public var origins: [URL] = []
  /// The place of the token in calls: `Authorization: Bearer …` by default.
  public var token = CallTokenPlace.bearer
  /// Whether calls use the same method and address as the backend's own endpoints.
  ///
  /// - `true`: no endpoint is left alone. Mark a call that needs no token as ``CallMark/plain``.
  /// - `false`: each endpoint is left alone.
  /// - `nil`, the default: an endpoint is left alone unless another endpoint has the same method
  ///   and address. This is the case with GraphQL, JSON-RPC or Amazon Cognito.
  public var endpointsAreShared: Bool?
  /// Whether the token may be sent over plain HTTP to other machines.
  ///
  /// - Requirement: STO-4
  public var allowsInsecure = false
  /// The number of attempts if the network fails: 1 by default, which means no second attempt.
  ///
  /// Only calls with an idempotent method (RFC 9110 §9.2.2) and a repeatable body are sent again.
  ///
  /// - Requirement: INT-3
  public var attempts: UInt32 = 1
  /// The maximum size of a response's body in bytes, after decompression: 16 MiB by default.
  ///
  /// If a response to a ``SessionInterceptor`` is larger, the call throws `invalidResponse`. `nil`
  /// sets no limit.
  ///
  /// - Requirement: INT-6
  public var maximumResponseSize: Int? = 16 << 20
  /// The time limit of one attempt: 10 minutes by default.
  ///
  /// It is measured from the sending of the request to the last byte of the response, including
  /// redirects. Time during which the device sleeps does not count. After this time, a call by
  /// ``SessionInterceptor`` throws `noReply`. `nil` sets no limit. A shorter
  /// `timeoutIntervalForResource` of the interceptor's configuration counts instead, on Linux too.
  /// `timeoutInterval` and `timeoutIntervalForRequest` limit the time without data only, so a
  /// response that trickles never reaches them.
  ///
  /// - Requirement: INT-6
  public var timeout: Duration? = .seconds(600)
  /// The maximum number of refreshes that refused calls may cause within ``refreshInterval``: 5 by
  /// default.
  ///
  /// Without a limit, an endpoint that refuses every token would cause one rotation per call. The
  /// limit applies per session and process. A scheduled refresh, a manual one, and one for an
  /// expired token do not count. `nil` sets no limit.
  ///
  /// - Requirement: REF-13
  public var maximumRefreshes: Int? = 5
  /// The interval for ``maximumRefreshes``: 30 seconds by default.
  ///
  /// - Requirement: REF-13
  public var refreshInterval: Duration = .seconds(30)

  /// Creates the default rules: a bearer token for the backend's origin, and no second attempt.
  public init() {}
}

/// A mark of one call that overrides the rules for its address.
///
/// - Requirement: INT-5
public enum CallMark: Hashable, Sendable, CaseIterable {
  /// The rules decide.
  case byRules
  /// The call carries the token, even to a public path or an endpoint of the backend.
  ///
  /// It is still sent only to the token's origins. To another origin it fails with `refused`, and
  /// nothing is sent.
  case authenticated
  /// The call is sent as the app created it.
  case plain
}

extension CallRules {
  /// The limit of refreshes that refused calls may cause; `nil` for no limit.
  var refreshWindow: RefreshWindow? {
    maximumRefreshes.map { RefreshWindow(interval: refreshInterval, maximumAttempts: $0) }
  }

  /// Returns what a call with these properties may carry at this backend.
  package func target(
    _ head: CallHead, _ backend: any AuthBackend, as mark: CallMark = .byRules
  ) -> CallPlan.Target {
    CallMap(self, backend).target(head, mark)
  }
}
