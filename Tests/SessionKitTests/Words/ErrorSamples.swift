import Foundation
import SessionAccounts
import SessionChanges
@_spi(Internals) import SessionCore
import SessionJournal
import SessionKit
import SessionMessages

/// One sample of every value that an app may show to its user.
///
/// A test compares the names with the cases that the sources declare.
enum ErrorSamples {
  /// A mark in place of a path, a code or a server's text, which no user may read.
  static let marked = "/private/MARKED_7F3A"

  static let all: [(name: String, value: any UserFacing)] =
    errors + rejections + expiryReasons + outcomes

  /// The enums of errors, with the files that declare them and a sample of each case.
  static let enums:
    [(type: String, file: String, samples: [(name: String, value: any UserFacing)])] = [
      ("JournalError", "SessionJournal/Format/JournalError.swift", list(journalErrorCases)),
      ("SecretStoreError", "SessionKit/Errors/SecretStoreError.swift", list(secretStoreErrorCases)),
      (
        "CredentialRules.Problem", "SessionCore/Policy/PolicyFigures.swift",
        list(credentialProblemCases)
      ),
      ("WebSignInProblem", "SessionCore/Events/IdentityCode.swift", list(webSignInProblemCases)),
      ("TransportError", "SessionHTTP/Transport/HTTPTransport.swift", list(transportErrorCases)),
      (
        "OpenIDProviderError", "SessionWebSignIn/Discovery/OpenIDProviderError.swift",
        list(openIDProviderErrorCases)
      ),
      ("ChangeLogError", "SessionChanges/ChangeLogError.swift", list(changeLogErrorCases)),
      ("AccountsError", "SessionAccounts/AccountsError.swift", list(accountsErrorCases)),
    ]

  static let errors: [(name: String, value: any UserFacing)] =
    sessionErrorCases.map { ("SessionError.\($0.failure.name)", $0) }
    + enums.flatMap { type, _, samples in samples.map { ("\(type).\($0.name)", $0.value) } }
    + [("SyncGateClosed", SyncGateClosed())]

  static let messages = cases(of: "SessionMessage", in: "SessionKit/Errors/SessionMessage.swift")
  static let advice = cases(of: "SessionAdvice", in: "SessionKit/Errors/SessionAdvice.swift")

  private static func list<Value: UserFacing>(
    _ samples: KeyValuePairs<String, Value>
  ) -> [(name: String, value: any UserFacing)] {
    samples.map { ($0.key, $0.value) }
  }

  /// The name of the case of an enum that has a payload, or no description of its own.
  static func caseName(_ value: Any) -> String {
    Mirror(reflecting: value).children.first?.label ?? "\(value)"
  }

  /// The cases that a file of Sources declares for an enum; none if it cannot be read.
  static func cases(of type: String, in file: String) -> [String] {
    let path = SpecPage.root.appending(path: "Sources/" + file).path
    let bytes = FileManager.default.contents(atPath: path) ?? Data()
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    let head = " enum \(type.split(separator: ".").last ?? ""):"
    guard let start = lines.firstIndex(where: { $0.contains(head) }) else { return [] }
    let end = lines[start].prefix { $0 == " " } + "}"
    return lines[start...].prefix { $0 != end }.compactMap { line in
      line.firstMatch(of: /^ *(?:indirect )?case ([a-z]\w*)/).map { String($0.1) }
    }
  }

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
