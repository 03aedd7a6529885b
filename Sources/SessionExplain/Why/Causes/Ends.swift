@_spi(Internals) import SessionCore

// Which family explains an end.
extension ExplanationDraft {
  mutating func explainEnd() {
    let logout = evidence.logout?.logout
    explanation.isClosedByPolicy = logout == .policy
    explanation.reason = (evidence.expiry?.expiry?.description) ?? logout?.description
    if logout == .user {
      explanation.reason = logout?.description
      explainUser()
    } else if logout == .userDeleted {
      explanation.reason = logout?.description
      explainDeleted()
    } else if let reason = evidence.expiry?.expiry {
      explain(reason)
      if logout == nil, let later = evidence.aftermath.first(where: { $0.isEnd || $0.isLogin }),
        later.logout != nil
      {
        explanation.findings.alsoSeen.append(
          Finding(.settledLater, .proven, [.place(later.sequence)], on: [later.sequence]))
      }
    } else if logout == .policy {
      if let root = evidence.root.first { explainClosing(of: root) } else { explainPolicyAlone() }
    } else {
      explainUnknown()
    }
  }

  private mutating func explain(_ reason: ExpiryReason) {
    switch reason {
    case .refreshRejected: explainRejection()
    case .attemptsExhausted: explainExhaustion()
    case .tokenExpired: explainExpiry()
    case .secretsMissing: explainMissingSecret()
    case .corruptStorage: explainCorruptStorage()
    case .secretsOutdated: explainOutdatedSecrets()
    case .secretsNewer: explainNewerSecrets()
    case .proofKeyLost: explainLostKey()
    case .userInactive: explainInactiveAccount()
    case .inactivity: explainInactivity()
    case .lifetimeEnded: explainLifetime()
    case .endedByServer: explainServersEnd()
    // A reason of a newer version; a test covers all known reasons.
    default: explainUnknown()
    }
  }
}
