internal import SessionExplain

/// A class of ends, by who or what ended the session; `Specs/ReplayReport.md` lists its causes.
enum EndClass: Int, CaseIterable, Comparable, Sendable {
  /// A response with a new token was lost.
  case lostReply
  /// The server refused a refresh token.
  case refused
  /// The server failed until the attempts were over.
  case failing
  /// The token or the stored secrets could not be used on the device.
  case device
  /// The journal does not say why.
  case unknown
  /// The account, the server or a limit ended the session as it should.
  case rule
  /// The user signed out.
  case user

  /// The class of a cause.
  init(_ cause: Cause) {
    self = Self.classes[cause] ?? .unknown
  }

  /// The class of an end without an explanation.
  static let unexplained = EndClass.unknown

  /// Whether such an end is a problem.
  var isUnexpected: Bool { self < .rule }

  /// The words for readers.
  var words: String {
    switch self {
    case .lostReply: "Reply lost"
    case .refused: "Refused by the server"
    case .failing: "Server failing"
    case .device: "Token or storage"
    case .unknown: "Not known"
    case .rule: "By rule"
    case .user: "By the user"
    }
  }

  /// The causes of the class.
  var causes: [Cause] {
    switch self {
    case .lostReply:
      [
        .lostReply, .answerNotStored, .answerNotRead, .killedInRefresh, .suspendedInRefresh,
        .familyRevoked,
      ]
    case .refused:
      [
        .usedElsewhere, .revokedElsewhere, .refreshTokenExpired, .unusedTooLong, .unknownToServer,
        .refused, .otherUser, .passwordChanged, .endedByAdministrator, .sessionLimit,
        .allSessionsEnded,
        .signInDemanded,
      ]
    case .failing:
      [
        .serverFailing, .rateLimited, .refreshingTooOften, .answersUnreadable, .appRefused,
        .endpointMissing, .attemptsExhausted,
      ]
    case .device:
      [
        .noRefreshToken, .tokenExpired, .expiredOnArrival, .clockForward, .secretsMissing,
        .secretUnreadable, .secretsAhead, .secretsOutdated, .secretsNewer, .proofKeyLost,
      ]
    case .unknown: [.unexplained]
    case .rule: [.accountDeleted, .accountInactive, .endedByServer, .inactive, .lifetimeOver]
    case .user: [.userLogout, .userLogoutAfterExpiry]
    }
  }

  private static let classes: [Cause: EndClass] = Dictionary(
    allCases.flatMap { end in end.causes.map { ($0, end) } },
    uniquingKeysWith: { first, _ in first })

  static func < (left: EndClass, right: EndClass) -> Bool { left.rawValue < right.rawValue }
}
