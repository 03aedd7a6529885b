extension RecordedPolicy {
  /// The words of a policy whose values are not those of ``SessionPolicy/standard``, and its attempts.
  package init(_ policy: SessionPolicy) {
    let (figures, usual) = (PolicyFigures(policy), PolicyFigures(.standard))
    // An empty text is no policy, so one word is always there.
    let words = PolicyWord.allCases.filter { word in
      word == .attempts || word.value(in: figures) != word.value(in: usual)
    }
    self.init(words: words.map { "\($0.rawValue)=\($0.value(in: figures))" })
  }
}

/// A value of the policy on which decisions depend.
///
/// Not the rules for credentials and the number of logins: a login that they refuse leaves no record.
package enum PolicyWord: String, CaseIterable, Sendable {
  case attempts = "attempts"
  case refused = "refused"
  case exhausted = "exhausted"
  case refusedToken = "refusedToken"
  case inactivity = "inactivity"
  case lifetime = "lifetime"
  case threshold = "threshold"
  case firstDelay = "firstDelay"
  case launch = "launch"
  case timeout = "timeout"
  case recovery = "recovery"
  case longestDelay = "longestDelay"
  case grace = "grace"
  case required = "required"

  /// The value in a policy, as `--policy` spells it.
  package func value(in figures: PolicyFigures) -> String {
    switch self {
    case .attempts: "\(figures.maximumAttempts)"
    case .refused: Self.word(figures.onRejection)
    case .exhausted:
      switch figures.onExhaustion {
      case .stay: "stay"
      case .end(let end): "end-" + Self.word(end)
      case .endAfterExpiry(let end): "expiry-" + Self.word(end)
      }
    case .refusedToken: figures.onRefusedToken == .end ? "end" : "deliver"
    case .inactivity: Self.span(figures.inactivityLimit)
    case .lifetime: Self.span(figures.absoluteLifetime)
    case .threshold: Self.span(figures.refreshThreshold)
    case .firstDelay: Self.span(figures.firstRetryDelay)
    case .launch: figures.launchRefresh == .always ? "always" : "ifExpired"
    case .timeout: Self.span(figures.requestTimeout)
    case .recovery: figures.orphanedSecrets == .adopt ? "resume" : "strict"
    case .longestDelay: Self.span(figures.longestRetryDelay)
    case .grace: Self.span(figures.peerRequestGrace)
    case .required: figures.requiredItems.map(\.word).sorted().joined(separator: "+")
    }
  }

  // To print an enum reflects it, which takes a fifth of a millisecond of an opening.
  private static func word(_ end: SessionPolicy.End) -> String { end == .clear ? "clear" : "keep" }

  private static func span(_ milliseconds: Int64?) -> String {
    guard let milliseconds else { return "none" }
    return milliseconds % 1_000 == 0 ? "\(milliseconds / 1_000)s" : "\(milliseconds)ms"
  }
}
