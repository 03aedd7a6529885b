@_spi(Internals) package import SessionCore
import SessionTestKit

/// The inputs, effects and timers that the runs of a property have covered.
///
/// - Requirement: TST-1
package struct CoordinatorCoverage: Hashable, Sendable {
  /// The number of inputs of each kind.
  package private(set) var inputs: [String: Int] = [:]
  /// The number of effects of each kind.
  package private(set) var effects: [String: Int] = [:]
  /// The number of times that each timer fired.
  package private(set) var timers: [SessionTimer: Int] = [:]
  /// The number of commits that met records of another process.
  package internal(set) var conflicts = 0

  /// Creates an empty coverage.
  package init() {}

  mutating func count(_ input: SessionInput) {
    inputs[input.name, default: 0] += 1
    if case .fired(let timer) = input { timers[timer, default: 0] += 1 }
  }

  mutating func count(_ effect: SessionEffect) {
    effects[effect.name, default: 0] += 1
  }

  /// Adds the counts of another run.
  package mutating func add(_ other: CoordinatorCoverage) {
    inputs.merge(other.inputs, uniquingKeysWith: +)
    effects.merge(other.effects, uniquingKeysWith: +)
    timers.merge(other.timers, uniquingKeysWith: +)
    conflicts += other.conflicts
  }

  /// The kinds that were not covered, in words.
  ///
  /// It also names kinds that were covered and are in no list, so that the lists stay complete.
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
  /// The names of the kinds of input that a run must cover.
  static let names = [
    "opened", "secretsRead", "login", "reauthenticate", "refresh", "switchContext", "logout",
    "cancelled",
    "clearError", "close", "answered", "failed", "revoked", "wiped", "observed",
    "unlock", "foreground", "used", "useRead", "accountCreated", "notSignedIn", "profileRead",
    "cleared",
    "unobserved", "reloaded", "fired", "committed", "conflicted", "commitFailed", "superseded",
    "leaving", "userNeeded", "lock", "beginUnlock", "checkFailed", "checkPassed",
  ]

  var name: String {
    switch self {
    case .opened: "opened"
    case .secretsRead: "secretsRead"
    case .login: "login"
    case .reauthenticate: "reauthenticate"
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
    case .userNeeded: "userNeeded"
    case .lock: "lock"
    case .beginUnlock: "beginUnlock"
    case .checkFailed: "checkFailed"
    case .checkPassed: "checkPassed"
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
  /// The names of all kinds of effect.
  static let names = [
    "commit", "send", "discard", "publish", "skip", "resume", "schedule", "cancel", "wipe",
    "revoke",
    "forgetRevocation", "reloadToken", "readSecrets", "readJournal", "askProfile", "noteUse",
    "readUse", "clearLocalData",
  ]
}
