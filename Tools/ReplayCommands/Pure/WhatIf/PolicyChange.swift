internal import SessionCore
internal import SessionExplain

/// Another policy, as `--policy` spells it: a preset, changes, or a preset with changes.
///
/// Without a preset, the changes apply to the policy that the records prove.
struct PolicyChange: Equatable, Sendable {
  /// A preset of `Specs/Policy.md`.
  enum Preset: String, CaseIterable, Sendable {
    case standard = "standard"
    case staging = "staging"
    case development = "development"
    case offlineFirst = "offlineFirst"
    case clearOnRefusal = "clearOnRefusal"

    var policy: SessionPolicy {
      switch self {
      case .standard: .standard
      case .staging: .staging
      case .development: .development
      case .offlineFirst: .offlineFirst
      case .clearOnRefusal: .clearOnRefusal
      }
    }
  }

  /// A value of the policy that may be changed.
  enum Key: String, CaseIterable, Sendable {
    case attempts = "attempts"
    case refused = "refused"
    case exhausted = "exhausted"
    case refusedToken = "refusedToken"
    case inactivity = "inactivity"
    case lifetime = "lifetime"
    case threshold = "threshold"
    case firstDelay = "firstDelay"
    case launch = "launch"

    /// The values that it accepts, for errors and help.
    var values: [String] {
      switch self {
      case .attempts: ["1", "3", "5"]
      case .refused: ["keep", "clear"]
      case .exhausted: ["stay", "end-keep", "end-clear", "expiry-keep", "expiry-clear"]
      case .refusedToken: ["deliver", "end"]
      case .inactivity, .lifetime: ["none", "30m", "12h"]
      case .threshold: ["none", "5m", "10m"]
      case .firstDelay: ["500ms", "2s"]
      case .launch: ["ifExpired", "always"]
      }
    }
  }

  /// What is wrong with the text, and what was probably meant.
  struct Problem: Error, Equatable, Sendable {
    let message: String
    let next: String
  }

  private(set) var preset: Preset?
  private(set) var values: [Key: String] = [:]
  private var spans: [Key: Int64] = [:]
  /// The text, as it was given.
  let text: String

  /// Parses the text; `milliseconds` reads a span of time such as `30m`.
  init(_ text: String, milliseconds: (String) -> Int64?) throws(Problem) {
    self.text = text
    for (index, part) in text.split(separator: ",", omittingEmptySubsequences: false).enumerated() {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map(String.init)
      let name = pair[0]
      if index == 0, pair.count == 1 {
        preset = try Self.preset(name)
      } else {
        try take(name, pair.dropFirst().first, milliseconds)
      }
    }
  }

  private static func preset(_ name: String) throws(Problem) -> Preset {
    if let preset = Preset(rawValue: name) { return preset }
    let keys = Key.allCases.map { "\($0.rawValue)=\($0.values[0])" }
    let near =
      Suggestion.nearest(to: name, in: Preset.allCases.map(\.rawValue))
      ?? Suggestion.nearest(to: name, in: Key.allCases.map(\.rawValue)).flatMap { word in
        keys.first { $0.hasPrefix("\(word)=") }
      }
    throw Problem(
      message: name.isEmpty
        ? "--policy names nothing."
        : "--policy cannot begin with '\(name.prefix(40))': that is neither a policy nor a change of one.",
      next: "--policy \(near ?? "standard, or --policy attempts=5")")
  }

  private mutating func take(
    _ name: String, _ value: String?, _ milliseconds: (String) -> Int64?
  ) throws(Problem) {
    guard let key = Key(rawValue: name) else {
      let near = Suggestion.nearest(to: name, in: Key.allCases.map(\.rawValue))
        .flatMap(Key.init(rawValue:))
      throw Problem(
        message: "A policy has no value '\(name.prefix(40))' that --policy can change.",
        next: near.map { "--policy \($0.rawValue)=\($0.values[0])" }
          ?? "one of \(Key.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    guard values[key] == nil else {
      throw Problem(
        message: "--policy changes \(name) twice.",
        next: "--policy \(name)=\(values[key] ?? key.values[0])")
    }
    guard let value, key.accepts(value, milliseconds) else {
      let near = value.flatMap { Suggestion.nearest(to: $0, in: key.values) } ?? key.values[0]
      throw Problem(
        message: value.map { "\(name) cannot be '\($0.prefix(40))'." } ?? "\(name) needs a value.",
        next: "--policy \(name)=\(near)")
    }
    values[key] = value
    spans[key] = milliseconds(value)
  }

  /// Returns this policy; parts that are not named are those of the preset, or of the recorded
  /// policy.
  ///
  /// How long a request may take stays as recorded, since other openings' waits depend on it.
  func applied(to recorded: SessionPolicy) -> SessionPolicy {
    var policy = preset?.policy ?? recorded
    policy.refresh.timeout = recorded.refresh.timeout
    policy.refresh.peerRequestGrace = recorded.refresh.peerRequestGrace
    policy.limits = recorded.limits
    policy.recovery = recorded.recovery
    for (key, value) in values { policy.change(key, to: value, spans[key]) }
    return policy
  }
}

extension PolicyChange.Key {
  fileprivate func accepts(_ value: String, _ milliseconds: (String) -> Int64?) -> Bool {
    switch self {
    case .attempts: Int(value).map { (1...1_000_000).contains($0) } ?? false
    case .refused, .exhausted, .refusedToken, .launch: values.contains(value)
    case .inactivity, .lifetime:
      value == "none" || milliseconds(value).map { $0 >= 1_000 } ?? false
    case .threshold: value == "none" || milliseconds(value).map { $0 >= 0 } ?? false
    case .firstDelay: milliseconds(value).map { $0 >= 100 } ?? false
    }
  }
}

extension SessionPolicy {
  fileprivate mutating func change(_ key: PolicyChange.Key, to value: String, _ span: Int64?) {
    let duration = span.map { Duration.milliseconds($0) }
    switch key {
    case .attempts: refresh.attempts = Int(value) ?? refresh.attempts
    case .refused: ending.onRejection = value == "clear" ? .clear : .keep
    case .exhausted:
      let end: End = value.hasSuffix("clear") ? .clear : .keep
      ending.onExhaustion =
        value == "stay" ? .stay : value.hasPrefix("end") ? .end(end) : .endAfterExpiry(end)
    case .refusedToken: ending.onRefusedToken = value == "end" ? .end : .deliver
    case .inactivity: ending.inactivityLimit = duration
    case .lifetime: ending.absoluteLifetime = duration
    case .threshold: refresh.beforeExpiry = duration
    case .firstDelay: refresh.firstRetryDelay = duration ?? refresh.firstRetryDelay
    case .launch: refresh.atLaunch = value == "always" ? .always : .ifExpired
    }
  }
}
