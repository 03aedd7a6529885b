public import Foundation

/// Which calls carry the session's token, where it travels in them, and what a call may cost.
///
/// They work with any ``AuthBackend``. An `HTTPBackend` gives the defaults: the token belongs to the origin
/// (scheme, host and port) of its address, and its endpoints for signing in, registering, social login,
/// refreshing and revoking are left alone. A backend of your own gives none: name the ``origins``.
/// A call to another origin goes out as it is. No other path is public unless the app says so.
///
/// Which responses refuse the token, the `failures` of an `HTTPBackend` say. With a backend of your own, the
/// standard rules do (`FailureRule.standard`), with its ``AuthBackend/errorCodes``.
///
/// - Requirement: INT-5, INT-6, REF-13, INT-3
public struct CallRules: Hashable, Sendable {
  /// Paths whose calls carry no token, with any method; none by default.
  ///
  /// They are below the backend's address, or else below each of the ``origins``.
  ///
  /// `status` is this path alone, `auth/*` is every path below `auth`. A pattern with a query fits
  /// calls with this query, one without a query fits calls with any.
  public var publicPaths: [String] = []
  /// Other origins that the token belongs to, such as that of a file store; paths do not matter.
  public var origins: [URL] = []
  /// Where the token travels: `Authorization: Bearer …` by default.
  public var token = CallTokenPlace.bearer
  /// Whether calls use the same method and address as the backend's own endpoints.
  ///
  /// `true`: no endpoint is left alone, and a call that needs no token is marked as ``CallMark/plain``.
  /// `false`: each of them is left alone. `nil`, the default: an endpoint is left alone unless another
  /// endpoint has the same method and address, as with GraphQL, JSON-RPC or Amazon Cognito.
  public var endpointsAreShared: Bool?
  /// Whether the token may travel over plain HTTP to other machines.
  ///
  /// - Requirement: STO-4
  public var allowsInsecure = false
  /// How often a call is sent if the network fails: 1 by default, which is no second attempt.
  ///
  /// Only idempotent methods (RFC 9110 §9.2.2) are sent again, and no body that can be read but once.
  ///
  /// - Requirement: INT-3
  public var attempts: UInt32 = 1
  /// The number of bytes that the body of a response may have, after decompression: 16 MiB by default.
  ///
  /// A call by ``SessionInterceptor`` whose response is larger throws `invalidResponse`. `nil` sets no limit.
  ///
  /// - Requirement: INT-6
  public var maximumResponseSize: Int? = 16 << 20
  /// The time that one attempt may take: 10 minutes by default.
  ///
  /// It runs from the sending of the request to the last byte of the response, redirects included. The time
  /// for which the device sleeps does not count. A call by ``SessionInterceptor`` that takes longer throws
  /// `noReply`. `nil` sets no limit. The request's own `timeoutInterval` limits the silence, not the whole.
  ///
  /// - Requirement: INT-6
  public var timeout: Duration? = .seconds(600)
  /// The number of refreshes that refused calls may cause within ``refreshInterval``: 5 by default.
  ///
  /// Without a limit, an endpoint that refuses every token costs one rotation per call. The limit counts per
  /// session and process. A refresh by schedule, by hand or for an expired token does not count. `nil` sets no
  /// limit.
  ///
  /// - Requirement: REF-13
  public var maximumRefreshes: Int? = 5
  /// The interval for ``maximumRefreshes``: 30 seconds by default.
  ///
  /// - Requirement: REF-13
  public var refreshInterval: Duration = .seconds(30)

  /// The token goes to the backend's origin as a bearer token, and no call is sent again.
  public init() {}
}

/// What a caller says of one call, whatever the rules say of its address.
///
/// - Requirement: INT-5
public enum CallMark: Hashable, Sendable, CaseIterable {
  /// The rules decide.
  case byRules
  /// It carries the token, also to a public path or an endpoint of the backend.
  ///
  /// It still goes only to the token's origins: to any other it fails with `refused`, and nothing is sent.
  case authenticated
  /// It goes out as the app made it.
  case plain
}

extension CallRules {
  /// How often refused calls may cause a refresh; `nil` for no limit.
  var refreshWindow: RefreshWindow? {
    maximumRefreshes.map { RefreshWindow(interval: refreshInterval, maximumAttempts: $0) }
  }

  /// What a call with this head may carry at this backend.
  package func target(
    _ head: CallOutline, _ backend: any AuthBackend, as mark: CallMark = .byRules
  ) -> CallPlan.Target {
    CallMap(self, backend).target(head, mark)
  }
}
