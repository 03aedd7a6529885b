@_spi(Internals) package import SessionCore
import SessionTestKit

/// What the runs of a property have hit: what was never hit was not tested.
///
/// - Requirement: TST-1
package struct CoordinatorCoverage: Hashable, Sendable {
  /// How often each kind of input was told.
  package private(set) var inputs: [String: Int] = [:]
  /// How often each kind of effect came out.
  package private(set) var effects: [String: Int] = [:]
  /// How often each timer went off.
  package private(set) var timers: [SessionTimer: Int] = [:]
  /// How many commits met another process's records.
  package internal(set) var conflicts = 0

  /// Nothing hit.
  package init() {}

  mutating func count(_ input: SessionInput) {
    inputs[input.name, default: 0] += 1
    if case .fired(let timer) = input { timers[timer, default: 0] += 1 }
  }

  mutating func count(_ effect: SessionEffect) {
    effects[effect.name, default: 0] += 1
  }

  /// Takes in what another run hit.
  package mutating func add(_ other: CoordinatorCoverage) {
    inputs.merge(other.inputs, uniquingKeysWith: +)
    effects.merge(other.effects, uniquingKeysWith: +)
    timers.merge(other.timers, uniquingKeysWith: +)
    conflicts += other.conflicts
  }

  /// What was never hit, in words; and what was hit and is in no list, so that the lists stay whole.
  package var gaps: [String] {
    inputs.keys.filter { !SessionInput.names.contains($0) }.sorted().map { "unlisted input \($0)" }
      + effects.keys.filter { !SessionEffect.names.contains($0) }.sorted()
      .map { "unlisted effect \($0)" }
      + SessionInput.names.filter { inputs[$0] == nil }.map { "input \($0)" }
      + SessionEffect.names.filter { effects[$0] == nil }.map { "effect \($0)" }
      + SessionTimer.allCases.filter { timers[$0] == nil }.map { "timer \($0)" }
  }
}

extension SessionInput {
  /// The name of each kind of input.
  static let names = [
    "opened", "secretsRead", "login", "refresh", "switchContext", "logout", "cancelled",
    "clearError", "close", "answered", "failed", "revoked", "wiped", "observed",
    "unlock", "foreground", "used", "useRead", "accountCreated", "notSignedIn", "profileRead",
    "cleared",
    "unobserved", "reloaded", "fired", "committed", "conflicted", "commitFailed", "superseded",
    "leaving",
  ]

  var name: String {
    switch self {
    case .opened: "opened"
    case .secretsRead: "secretsRead"
    case .login: "login"
    case .refresh: "refresh"
    case .switchContext: "switchContext"
    case .logout: "logout"
    case .unlock: "unlock"
    case .foreground: "foreground"
    case .used: "used"
    case .useRead: "useRead"
    case .accountCreated: "accountCreated"
    case .notSignedIn: "notSignedIn"
    case .profileRead: "profileRead"
    case .cleared: "cleared"
    case .stored: "stored"
    case .cancelled: "cancelled"
    case .clearError: "clearError"
    case .close: "close"
    case .answered: "answered"
    case .failed: "failed"
    case .revoked: "revoked"
    case .wiped: "wiped"
    case .observed: "observed"
    case .unobserved: "unobserved"
    case .reloaded: "reloaded"
    case .fired: "fired"
    case .leaving: "leaving"
    case .committed: "committed"
    case .conflicted: "conflicted"
    case .commitFailed: "commitFailed"
    case .superseded: "superseded"
    case .presenceNeeded: "presenceNeeded"
    }
  }
}

extension SessionEffect {
  /// The name of each kind of effect.
  static let names = [
    "commit", "send", "discard", "publish", "skip", "resume", "schedule", "cancel", "wipe",
    "revoke",
    "forgetRevocation", "reloadToken", "readSecrets", "readJournal", "askProfile", "noteUse",
    "readUse", "clearLocalData",
  ]
}
