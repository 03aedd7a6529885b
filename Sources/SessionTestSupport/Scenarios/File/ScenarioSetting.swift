import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionKit
import SessionMessages

/// The header of a scenario: the lines before the first step.
struct ScenarioSetting: Sendable {
  var app = ""
  private var isStaging = false
  var clientID = ""
  /// The client's secret, and whether it is sent in `Authorization`.
  var secret: (text: String, isBasic: Bool)?
  var scope: String?
  var revocation: String?
  /// Whether the identity provider's SDK keeps the refresh token.
  ///
  /// - Requirement: WEB-6
  var isOwned = false
  /// The differences from the preset's policy, in the file's order.
  private var policy: [ScenarioLine.Field] = []
  var start = Timestamp(milliseconds: 1_767_225_600_000)
  /// The user names and passwords of those who may log in.
  var users: [String: (name: String, password: String)] = [:]
  /// The answer of a login before the scenario begins, and its line; `nil` if there was none.
  var known: (answer: JSONTemplate, line: Int)?
  /// The settings of the app's change log; `nil` if it has none.
  var changes: (policy: ChangePolicy, limits: ChangeLogLimits)?

  /// Reads a line; returns whether it belongs to the header.
  mutating func read(_ line: ScenarioLine) throws(ScenarioProblem) -> Bool {
    switch line.words[0] {
    // Tests read these two lines themselves.
    case "scenario", "proves": break
    case "app":
      app = try line.word(1)
      for detail in line.details { try readApp(detail) }
    case "policy":
      policy += try line.fields()
      var policy = SessionPolicy.production
      for field in self.policy { try Self.apply(field, to: &policy) }
    case "start":
      guard let time = Timestamp(try line.word(1)) else {
        throw ScenarioProblem("a start has the form 2026-11-21T08:00:00Z")
      }
      start = time
    case "user": users[try line.word(1)] = (try line.word(2), try line.word(3))
    case "known":
      guard let answer = line.details.first else { throw ScenarioProblem("there is no answer") }
      known = (try answer.json(), line.number)
    case "changes":
      var (policy, limits) = (ChangePolicy(), ChangeLogLimits())
      for field in try line.fields() {
        switch (field.name, Int(field.value), ScenarioDuration.milliseconds(field.value)) {
        case ("attempts", let count?, _): policy.attempts = UInt32(clamping: count)
        case ("limit", let count?, _): limits = ChangeLogLimits(count: count)
        case ("firstDelay", _, let delay?): policy.firstDelay = .milliseconds(delay)
        default: throw ScenarioProblem("\(field.name)=\(field.value) is no setting")
        }
      }
      changes = (policy, limits)
    default: return false
    }
    return true
  }

  private mutating func readApp(_ line: ScenarioLine) throws(ScenarioProblem) {
    let word = try line.word(1)
    switch line.words[0] {
    case "environment": isStaging = word == "staging"
    case "client":
      clientID = word
      if line.words.count > 2 { secret = (try line.word(3), isBasic: line.words[2] == "basic") }
    case "scope": scope = word
    case "tokens": isOwned = word == "provider"
    case "revocation": revocation = word
    default: throw ScenarioProblem("\"\(line.words[0])\" is no setting of an app")
    }
  }

  /// Returns the app's registration at the identity provider with this address.
  func identity(at base: URL) -> CodeGrant.Client {
    CodeGrant.Client(
      userFlow: base.appending(path: "tenant/b2c_1_signin"), id: clientID, scope: scope ?? "")
  }

  /// Returns the app's preset for a server at this address.
  func preset(at base: URL) throws(ScenarioProblem) -> AppPreset {
    var preset: AppPreset
    switch app {
    case "EDU": preset = .edu(base, environment: isStaging ? .staging : .production)
    case "B2C":
      preset = .b2c(
        base.appending(path: "tenant/b2c_1_signin"), clientID: clientID, scope: scope ?? "")
    case "OFF": preset = .off(base)
    case "TIK": preset = .tik(base)
    case "API": preset = .api(base)
    case "OAuth":
      preset = .oauth(
        token: base.appending(path: "oauth/token"),
        revocation: revocation.map { base.appending(path: $0) }, client: authentication,
        scope: scope)
    default: throw ScenarioProblem("\"\(app)\" is not an app")
    }
    for field in policy { try Self.apply(field, to: &preset.policy) }
    return preset
  }

  private var authentication: ClientAuthentication {
    guard !clientID.isEmpty else { return .none }
    guard let secret else { return .form(id: clientID, secret: nil) }
    let text = Secret(secret.text)
    return secret.isBasic ? .basic(id: clientID, secret: text) : .form(id: clientID, secret: text)
  }

  /// Sets a field of a policy.
  private static func apply(
    _ field: ScenarioLine.Field, to policy: inout SessionPolicy
  ) throws(ScenarioProblem) {
    let duration = ScenarioDuration.milliseconds(field.value).map { Duration.milliseconds($0) }
    switch (field.name, field.value, duration, Int(field.value)) {
    case ("refreshThreshold", _, let duration?, _): policy.refresh.beforeExpiry = duration
    case ("requestTimeout", _, let duration?, _): policy.refresh.timeout = duration
    case ("inactivityLimit", _, let duration?, _): policy.ending.inactivityLimit = duration
    case ("maximumAttempts", _, _, let count?): policy.refresh.attempts = count
    case ("signInsPerMinute", _, _, let count?): policy.limits.loginsPerMinute = count
    case ("onRejection", "keep", _, _): policy.ending.onRejection = .keep
    case ("onExhaustion", "keep", _, _): policy.ending.onExhaustion = .end(.keep)
    case ("straySecrets", "adopt", _, _): policy.recovery.orphanedSecrets = .adopt
    default: throw ScenarioProblem("\(field.name)=\(field.value) is no setting of a policy")
    }
  }
}
