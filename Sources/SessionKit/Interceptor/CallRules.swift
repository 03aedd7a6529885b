public import Foundation

/// Which calls get the session's token, and how often one is tried.
///
/// The address of the wire is where the token belongs. Another scheme, host or port is another
/// origin: a call to it goes out as it is.
public struct CallRules: Hashable, Sendable {
  /// Paths below the wire's address that need no token; one that ends with `*` stands for all that
  /// begin so.
  ///
  /// The wire's own endpoints are public besides, but for the profile's.
  public var publicPaths = ["/auth/*"]
  /// Other origins that the token belongs to, such as that of a file store; paths do not matter.
  public var origins: [URL] = []
  /// Whether the token may go over plain HTTP to other machines than this one (STO-4).
  public var allowsInsecure = false
  /// How often a call is made where the network is to blame: 1, unless it is tried again, after
  /// the policy's delays (INT-3).
  ///
  /// Only methods that do no more when they are repeated (RFC 9110 §9.2.2), and no bodies that can
  /// be read but once.
  public var attempts: UInt32 = 1

  /// The token goes to the wire's origin, `/auth/*` is public, and no call is tried again.
  public init() {}
}

extension CallRules {
  /// What a call with this head may carry at a backend that is spoken to so.
  public func target(_ head: CallHead, _ wire: Wire) -> CallPlan.Target {
    CallMap(self, wire).target(head)
  }
}
