import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionMessages

/// The header of a scenario.
struct ScenarioSetting: Sendable {
  var app = ""
  var environment = "production"
  var client: Client?
  var scope: String?
  var revocation: String?
  /// Whether the identity provider's SDK keeps the refresh token.
  ///
  /// - Requirement: WEB-6
  var isOwned = false
  /// The differences from the preset's policy, in the file's order.
  var policy: [ScenarioStep.Field] = []
  var start = Timestamp(milliseconds: 1_767_225_600_000)
  var users: [String: ScenarioUser] = [:]
  /// The answer of a login before the scenario begins, and its line; `nil` if there was none.
  var known: (answer: JSONTemplate, line: Int)?

  /// The settings of the app's change log; `nil` if it has none.
  var changes: Changes?

  struct Changes: Hashable, Sendable {
    var policy = ChangePolicy()
    var limits = ChangeLogLimits()

    /// Sets a field; returns `false` if the value is invalid.
    mutating func apply(_ field: ScenarioStep.Field) -> Bool {
      let duration = ScenarioDuration.milliseconds(field.value)
      switch (field.name, duration, Int(field.value)) {
      case ("firstDelay", let duration?, _) where duration > 0:
        policy.firstDelay = .milliseconds(duration)
      case ("lease", let duration?, _) where duration > 0:
        policy.lease = .milliseconds(duration)
      case ("attempts", _, let count?) where (1...100).contains(count):
        policy.attempts = UInt32(count)
      case ("limit", _, let count?) where (1...1_000).contains(count):
        limits = ChangeLogLimits(count: count)
      default: return false
      }
      return true
    }
  }

  struct Client: Hashable, Sendable {
    var id: String
    var secret: String?
    var isBasic = false
  }

  /// Returns the app's registration at the identity provider with this address.
  func identity(at base: URL) -> CodeGrant.Client {
    CodeGrant.Client(
      userFlow: base.appending(path: "tenant/b2c_1_signin"), id: client?.id ?? "",
      scope: scope ?? "")
  }

  /// Returns the app's preset for a server at this address.
  func preset(at base: URL) -> AppPreset {
    var preset: AppPreset
    switch app {
    case "B2C":
      preset = .b2c(
        base.appending(path: "tenant/b2c_1_signin"), clientID: client?.id ?? "",
        scope: scope ?? "")
    case "OFF": preset = .off(base)
    case "TIK": preset = .tik(base)
    case "API": preset = .api(base)
    case "OAuth":
      preset = .oauth(
        token: base.appending(path: "oauth/token"),
        revocation: revocation.map { base.appending(path: $0) }, client: authentication,
        scope: scope)
    default: preset = .edu(base, environment: figures)
    }
    for field in policy { ScenarioSetting.apply(field, to: &preset.policy) }
    return preset
  }

  private var figures: SessionPolicy {
    switch environment {
    case "development": .development
    case "staging": .staging
    default: .production
    }
  }

  private var authentication: ClientAuthentication {
    guard let client else { return .none }
    if client.isBasic { return .basic(id: client.id, secret: Secret(client.secret ?? "")) }
    return .form(id: client.id, secret: client.secret.map { Secret($0) })
  }

  /// Sets a field of a policy; returns `false` if the value is invalid.
  @discardableResult
  static func apply(_ field: ScenarioStep.Field, to policy: inout SessionPolicy) -> Bool {
    let duration = ScenarioDuration.milliseconds(field.value)
    let durations: [String: WritableKeyPath<SessionPolicy, Duration>] = [
      "firstRetryDelay": \.refresh.firstRetryDelay,
      "longestRetryDelay": \.refresh.longestRetryDelay, "requestTimeout": \.refresh.timeout,
      "overtakenGrace": \.refresh.peerRequestGrace,
    ]
    if let path = durations[field.name] {
      guard let duration, duration >= 0 else { return false }
      policy[keyPath: path] = .milliseconds(duration)
      return true
    }
    switch (field.name, field.value) {
    case ("refreshThreshold", _):
      guard let duration, duration >= 0 else { return false }
      policy.refresh.beforeExpiry = .milliseconds(duration)
    case ("inactivityLimit", _):
      guard let duration, duration >= 1_000 else { return false }
      policy.ending.inactivityLimit = .milliseconds(duration)
    case ("signInsPerMinute", let text):
      guard let count = UInt32(text), count > 0 else { return false }
      policy.limits.loginsPerMinute = Int(count)
    case ("profileCheck", "whenUnknown"): policy.limits.profileCheck = .whenUnknown
    case ("profileCheck", "afterLogin"): policy.limits.profileCheck = .afterLogin
    case ("profileCheck", "afterLoginAndLaunch"): policy.limits.profileCheck = .afterLoginAndLaunch
    case ("maximumAttempts", let text):
      guard let count = UInt32(text), count > 0 else { return false }
      policy.refresh.attempts = Int(count)
    case ("launchRefresh", "always"): policy.refresh.atLaunch = .always
    case ("launchRefresh", "ifExpired"): policy.refresh.atLaunch = .ifExpired
    case ("onRejection", "clear"): policy.ending.onRejection = .clear
    case ("onRejection", "keep"): policy.ending.onRejection = .keep
    case ("straySecrets", "wipe"): policy.recovery.orphanedSecrets = .wipe
    case ("straySecrets", "adopt"): policy.recovery.orphanedSecrets = .adopt
    case ("onExhaustion", "stay"): policy.ending.onExhaustion = .stay
    case ("onExhaustion", "clear"): policy.ending.onExhaustion = .end(.clear)
    case ("onExhaustion", "keep"): policy.ending.onExhaustion = .end(.keep)
    case ("onExhaustion", "clearAfterExpiry"): policy.ending.onExhaustion = .endAfterExpiry(.clear)
    case ("onExhaustion", "keepAfterExpiry"): policy.ending.onExhaustion = .endAfterExpiry(.keep)
    case ("refreshesBeforeExpiry", "yes"):
      policy.refresh.beforeExpiry =
        policy.refresh.beforeExpiry ?? SessionPolicy.standard.refresh.beforeExpiry
    case ("refreshesBeforeExpiry", "no"): policy.refresh.beforeExpiry = nil
    default: return false
    }
    return true
  }
}
