import SessionChanges
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionMessages

/// One sample of every value that an app may show to its user.
///
/// The functions called `name` are switches without a default, so that a new case needs a name. A
/// test requires a sample for each name.
enum ErrorSamples {
  /// A mark in place of a path, a code or a server's text, which no user may read.
  static let marked = "/private/MARKED_7F3A"

  static let all: [(name: String, value: any UserFacing)] =
    errors + rejections + expiryReasons + outcomes

  /// The names that need a sample.
  static let names: [String] =
    SessionErrorCase.allCases.map { "SessionError.\($0.rawValue)" }
    + JournalErrorCase.allCases.map { "JournalError.\($0.rawValue)" }
    + SecretStoreErrorCase.allCases.map { "SecretStoreError.\($0.rawValue)" }
    + CredentialProblemCase.allCases.map { "CredentialRules.Problem.\($0.rawValue)" }
    + WebSignInProblemCase.allCases.map { "WebSignInProblem.\($0.rawValue)" }
    + TransportErrorCase.allCases.map { "TransportError.\($0.rawValue)" }
    + changeNames
    + SessionRejection.Reason.allCases.map { "SessionRejection.\($0.rawValue)" }
    + ExpiryReason.known.map { "ExpiryReason.\($0)" } + ["ExpiryReason.unknown(200)"]
    + [
      "success", "serverNotTold", "notRevocable", "itemsRemain", "localDataRemains",
      "alreadyLoggedOut",
    ].map {
      "LogoutOutcome.\($0)"
    }

  static let errors: [(name: String, value: any UserFacing)] =
    sessionErrorCases.map { ("SessionError.\(name(of: $0).rawValue)", $0) }
    + journalErrorCases.map { ("JournalError.\(name(of: $0).rawValue)", $0) }
    + secretStoreErrorCases.map { ("SecretStoreError.\(name(of: $0).rawValue)", $0) }
    + credentialProblemCases.map { ("CredentialRules.Problem.\(name(of: $0).rawValue)", $0) }
    + webSignInProblemCases.map { ("WebSignInProblem.\(name(of: $0).rawValue)", $0) }
    + transportErrorCases.map { ("TransportError.\(name(of: $0).rawValue)", $0) }
    + changeErrors

  private static let changeNames: [String] =
    ChangeLogErrorCase.allCases.map { "ChangeLogError.\($0.rawValue)" } + ["SyncGateClosed"]

  private static let changeErrors: [(name: String, value: any UserFacing)] =
    changeLogErrorCases.map { ("ChangeLogError.\(name(of: $0).rawValue)", $0) }
    + [("SyncGateClosed", SyncGateClosed())]

  private static let rejections: [(name: String, value: any UserFacing)] =
    SessionRejection.Reason.allCases.map { ("SessionRejection.\($0.rawValue)", rejection($0)) }

  private static let expiryReasons: [(name: String, value: any UserFacing)] =
    (ExpiryReason.known + [ExpiryReason(rawValue: 200)]).map { ("ExpiryReason.\($0)", $0) }

  private static let outcomes: [(name: String, value: any UserFacing)] = [
    LogoutOutcome.success, .partial(.serverNotTold(status: 503)), .partial(.notRevocable),
    .partial(.itemsRemain),
    .partial(.localDataRemains),
    .alreadyLoggedOut,
  ].map { ("LogoutOutcome.\(name(of: $0))", $0) }

  private static func name(of outcome: LogoutOutcome) -> String {
    switch outcome {
    case .success: "success"
    case .partial(.serverNotTold): "serverNotTold"
    case .partial(.notRevocable): "notRevocable"
    case .partial(.itemsRemain): "itemsRemain"
    case .partial(.localDataRemains): "localDataRemains"
    case .alreadyLoggedOut: "alreadyLoggedOut"
    }
  }

  static func rejection(_ reason: SessionRejection.Reason) -> SessionRejection {
    SessionRejection(state: .expired, event: .login, reason: reason)
  }

  static let identifier = JournalIdentifier(high: 1, low: 2)
  static let damage = JournalDamage(offset: 64, sequence: 1, flaw: .headerChecksum)
}
