@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// A policy, as `--policy` spells it: a preset, changes, or a preset with changes.
///
/// Without a preset, the changes apply to another policy.
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

  typealias Key = PolicyWord

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

  /// Parses the text.
  init(_ text: String) throws(Problem) {
    self.text = text
    for (index, part) in text.split(separator: ",", omittingEmptySubsequences: false).enumerated() {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        .map(String.init)
      let name = pair[0]
      if index == 0, pair.count == 1 {
        preset = try Self.preset(name)
      } else {
        try take(name, pair.dropFirst().first)
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

  private mutating func take(_ name: String, _ value: String?) throws(Problem) {
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
    guard let value, key.accepts(value) else {
      let near = value.flatMap { Suggestion.nearest(to: $0, in: key.values) } ?? key.values[0]
      throw Problem(
        message: value.map { "\(name) cannot be '\($0.prefix(40))'." } ?? "\(name) needs a value.",
        next: "--policy \(name)=\(near)")
    }
    values[key] = value
    spans[key] = Span.milliseconds(value[...])
  }

  /// Returns this policy; parts that are not named are those of the preset, or of the recorded
  /// policy.
  ///
  /// How long a request may take stays as recorded unless it is named, since other openings' waits
  /// depend on it.
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

extension PolicyWord {
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
    case .timeout: ["30s"]
    case .recovery: ["strict", "resume"]
    case .longestDelay: ["5m"]
    case .grace: ["60s"]
    case .required: ["token", "context+token+user"]
    }
  }

  fileprivate func accepts(_ value: String) -> Bool {
    func lasts(_ least: Int64) -> Bool {
      Span.milliseconds(value[...]).map { $0 >= least } ?? false
    }
    return switch self {
    case .attempts: UInt32(value).map { $0 > 0 } ?? false
    case .refused, .exhausted, .refusedToken, .launch, .recovery: values.contains(value)
    case .inactivity, .lifetime: value == "none" || lasts(1_000)
    case .threshold: value == "none" || lasts(0)
    case .firstDelay, .longestDelay: lasts(100)
    case .timeout: lasts(1)
    case .grace: lasts(0)
    case .required:
      value.split(separator: "+", omittingEmptySubsequences: false).allSatisfy {
        SecretItem(word: String($0)) != nil
      }
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
    case .timeout: refresh.timeout = duration ?? refresh.timeout
    case .recovery: recovery = value == "resume" ? .resume : .strict
    case .longestDelay: refresh.longestRetryDelay = duration ?? refresh.longestRetryDelay
    case .grace: refresh.peerRequestGrace = duration ?? refresh.peerRequestGrace
    case .required:
      limits.requiredItems = Set(value.split(separator: "+").compactMap { .init(word: String($0)) })
    }
  }
}

/// The policies of a journal's openings.
struct OpeningPolicies: Sendable {
  /// The policy of openings that record none; `nil` if it was not named.
  var named: PolicyChange?
  /// Another policy for all openings; `nil` for their own.
  var other: PolicyChange?

  /// Returns the policy of the opening with this note; `nil` if it is not known.
  ///
  /// `timeout` says how long its requests may take, if it records no policy and `named` does not say it.
  func policy(of note: SessionNote.Opened?, timeout: Int64? = nil) -> SessionPolicy? {
    let own = note?.policy.flatMap(PolicyChange.init)
    guard let words = own ?? named else { return nil }
    var usual = SessionPolicy.standard
    // Logins that were refused for their number leave no record.
    usual.limits.loginsPerMinute = nil
    if own == nil, let timeout { usual.refresh.timeout = .milliseconds(timeout) }
    let recorded = words.applied(to: usual)
    return other?.applied(to: recorded) ?? recorded
  }
}

extension PolicyChange {
  /// Reads a recorded policy; `nil` if a newer version wrote a word that this one does not know.
  fileprivate init?(_ recorded: RecordedPolicy) {
    do throws(Problem) { try self.init(recorded.description) } catch { return nil }
  }
}

/// A span of time in words.
enum Span {
  /// Returns the milliseconds of `90s`, `1h30m`, `250ms`; each unit follows a whole number.
  static func milliseconds(_ text: Substring) -> Int64? {
    let units: [(String, UInt64)] = [
      ("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000),
    ]
    var (rest, total) = (text, UInt64(0))
    guard !rest.isEmpty else { return nil }
    while !rest.isEmpty {
      let digits = rest.prefix { ("0"..."9").contains($0) }
      rest = rest.dropFirst(digits.count)
      guard let value = UInt64(digits), let unit = units.first(where: { rest.hasPrefix($0.0) })
      else { return nil }
      rest = rest.dropFirst(unit.0.count)
      let (product, overflow) = value.multipliedReportingOverflow(by: unit.1)
      let (sum, tooMuch) = total.addingReportingOverflow(product)
      guard !overflow, !tooMuch else { return nil }
      total = sum
    }
    return Int64(exactly: total)
  }
}
