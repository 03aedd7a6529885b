/// How a session was opened.
///
/// - Requirement: LOG-5, LOG-9
public struct LoginMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The word, or `unknown(n)`.
  public var description: String { word }

  /// With an e-mail or user name and a password.
  public static let password = LoginMethod(rawValue: 0)
  /// By creating the account.
  public static let registration = LoginMethod(rawValue: 1)
  /// With the token of a social identity provider.
  public static let social = LoginMethod(rawValue: 2)
  /// By unlocking a stored session with biometrics.
  public static let biometric = LoginMethod(rawValue: 3)
  /// In a web view, by the user.
  public static let interactive = LoginMethod(rawValue: 4)
  /// By the identity provider, without showing anything.
  public static let silent = LoginMethod(rawValue: 5)
  /// By taking over tokens that the app held already.
  public static let adoption = LoginMethod(rawValue: 6)
  /// With a refresh token alone.
  ///
  /// - Requirement: LOG-15
  public static let refreshToken = LoginMethod(rawValue: 7)
  /// With a credential that only the app's own backend knows.
  public static let custom = LoginMethod(rawValue: 8)
}

@_spi(Internals) extension LoginMethod: OpenEnum {
  /// The word for each byte, from 0.
  public static let words = [
    "password", "registration", "social", "biometric", "interactive", "silent", "adoption",
    "refreshToken", "custom",
  ]
}

/// What made a refresh start.
///
/// - Requirement: REF-1, REF-2
public struct RefreshTrigger: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The word, or `unknown(n)`.
  public var description: String { word }

  /// The time had come: `expiresAt − threshold`.
  public static let schedule = RefreshTrigger(rawValue: 0)
  /// A protected call was answered 401.
  public static let unauthorized = RefreshTrigger(rawValue: 1)
  /// The session was opened with an expired token.
  public static let launch = RefreshTrigger(rawValue: 2)
  /// The app came back to the foreground.
  public static let foreground = RefreshTrigger(rawValue: 3)
  /// The app asked.
  public static let manual = RefreshTrigger(rawValue: 4)
  /// An earlier attempt failed in a way that passes.
  public static let retry = RefreshTrigger(rawValue: 5)
  /// A command needed a good token first.
  public static let command = RefreshTrigger(rawValue: 6)
}

@_spi(Internals) extension RefreshTrigger: OpenEnum {
  /// The word for each byte, from 0.
  public static let words = [
    "schedule", "unauthorized", "launch", "foreground", "manual", "retry", "command",
  ]
}

/// Who changed the active context.
///
/// - Requirement: STA-5, CTX-1
public struct SwitchTrigger: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The word, or `unknown(n)`.
  public var description: String { word }

  /// The user asked for another role, school or unit.
  public static let user = SwitchTrigger(rawValue: 0)
  /// A refreshed token carried other permissions.
  public static let server = SwitchTrigger(rawValue: 1)
}

@_spi(Internals) extension SwitchTrigger: OpenEnum {
  /// The word for each byte, from 0.
  public static let words = ["user", "server"]
}

/// Why a session is no longer usable, though its user is still known.
public struct ExpiryReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The word, or `unknown(n)`.
  public var description: String { word }

  /// The token's life ended and there was no refresh token.
  public static let tokenExpired = ExpiryReason(rawValue: 0)
  /// The server refused to refresh.
  ///
  /// - Requirement: REF-6
  public static let refreshRejected = ExpiryReason(rawValue: 1)
  /// The server answered every attempt with a failure, up to the policy's limit.
  ///
  /// - Requirement: POL-2
  public static let attemptsExhausted = ExpiryReason(rawValue: 2)
  /// A stored item that the policy requires is gone.
  ///
  /// - Requirement: RES-1
  public static let secretsMissing = ExpiryReason(rawValue: 3)
  /// A stored item cannot be read as what it should be.
  ///
  /// - Requirement: RES-2
  public static let corruptStorage = ExpiryReason(rawValue: 4)
  /// The stored token is older than the journal's: a backup was restored over it.
  public static let secretsOutdated = ExpiryReason(rawValue: 5)
  /// The server says that the account is inactive.
  ///
  /// - Requirement: LOG-6
  public static let userInactive = ExpiryReason(rawValue: 6)
  /// Unused for longer than the policy allows.
  ///
  /// - Requirement: POL-5
  public static let inactivity = ExpiryReason(rawValue: 7)
  /// The server ended the session.
  ///
  /// - Requirement: LOG-7
  public static let endedByServer = ExpiryReason(rawValue: 8)
  /// A newer version wrote the stored items, and a new sign-in replaced them.
  ///
  /// - Requirement: RES-8
  public static let secretsNewer = ExpiryReason(rawValue: 9)
  /// It has lasted for as long as the policy, or a response of the backend, allows.
  ///
  /// - Requirement: POL-10
  public static let lifetimeEnded = ExpiryReason(rawValue: 10)
}

@_spi(Internals) extension ExpiryReason: OpenEnum {
  /// The word for each byte, from 0.
  public static let words = [
    "tokenExpired", "refreshRejected", "attemptsExhausted", "secretsMissing", "corruptStorage",
    "secretsOutdated", "userInactive", "inactivity", "endedByServer",
    "secretsNewer", "lifetimeEnded",
  ]
}

/// Why a session was closed for good.
public struct LogoutReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The word, or `unknown(n)`.
  public var description: String { word }

  /// The user, or the app on the user's behalf, asked.
  public static let user = LogoutReason(rawValue: 0)
  /// The session had expired and the policy clears expired sessions.
  ///
  /// - Requirement: POL-2
  public static let policy = LogoutReason(rawValue: 1)
  /// The server says that the account is deleted.
  ///
  /// - Requirement: LOG-6
  public static let userDeleted = LogoutReason(rawValue: 2)
}

@_spi(Internals) extension LogoutReason: OpenEnum {
  /// The word for each byte, from 0.
  public static let words = ["user", "policy", "userDeleted"]
}

/// The requests that change or end a token.
@_spi(Internals) public struct RequestKind: OpenEnum {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A new access token for a refresh token.
  public static let refresh = RequestKind(rawValue: 0)
  /// A token in another role, school or unit.
  public static let switchContext = RequestKind(rawValue: 1)

  /// The word for each byte, from 0.
  public static let words = ["refresh", "switchContext"]
}

/// The outcome for the refresh token after a revocation.
///
/// - Requirement: OUT-1, OUT-5
@_spi(Internals) public struct RevocationOutcome: OpenEnum {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The server confirmed every request that ends the session there.
  public static let revoked = RevocationOutcome(rawValue: 0)
  /// This backend has no endpoint for it.
  public static let notOffered = RevocationOutcome(rawValue: 1)
  /// It is not known: a request was not answered, or refused.
  ///
  /// Tried again, at the latest at the next opening.
  public static let failed = RevocationOutcome(rawValue: 2)
  /// What was needed for it is gone: the refresh token may live on.
  public static let abandoned = RevocationOutcome(rawValue: 3)
  /// The server refused the refresh token, or the access token of a session without one: nothing was
  /// left to revoke.
  public static let alreadyInvalid = RevocationOutcome(rawValue: 4)

  /// The word for each byte, from 0.
  public static let words = ["revoked", "notOffered", "failed", "abandoned", "alreadyInvalid"]
}

/// The items in which secrets are stored.
///
/// - Requirement: STO-1
public struct SecretItem: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The word, or `unknown(n)`.
  public var description: String { word }

  /// Access and refresh token.
  public static let token = SecretItem(rawValue: 0)
  /// The user's profile.
  public static let user = SecretItem(rawValue: 1)
  /// The active context.
  public static let context = SecretItem(rawValue: 2)
  /// What a revocation still needs, after logout.
  public static let revocation = SecretItem(rawValue: 3)
  /// The refresh token, where the store keeps it apart from the access token.
  ///
  /// - Requirement: STO-2
  public static let refreshToken = SecretItem(rawValue: 4)
}

@_spi(Internals) extension SecretItem: OpenEnum {
  /// The word for each byte, from 0.
  public static let words = ["token", "user", "context", "revocation", "refreshToken"]
}

/// What kept something from being stored, or a store from doing what it was asked.
///
/// - Requirement: REF-11, STO-5
@_spi(Internals) public struct StorageCause: OpenEnum {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The disk was full.
  public static let noRoom = StorageCause(rawValue: 0)
  /// This process was not allowed to write.
  public static let refused = StorageCause(rawValue: 1)
  /// Another process held the journal's lock for too long.
  public static let busy = StorageCause(rawValue: 2)
  /// The file was gone, or another one was in its place.
  public static let replaced = StorageCause(rawValue: 3)
  /// What is stored there cannot be used by this version.
  public static let unusable = StorageCause(rawValue: 4)
  /// The system failed in another way, such as a read or write error of the disk.
  public static let failed = StorageCause(rawValue: 5)
  /// The store cannot be read yet: the device is locked, or access is refused.
  public static let unavailable = StorageCause(rawValue: 6)
  /// A newer version of this library wrote the item.
  public static let newerVersion = StorageCause(rawValue: 7)
  /// Something else is in the item's place.
  public static let obstructed = StorageCause(rawValue: 8)
  /// The item is larger than any secret.
  public static let tooLarge = StorageCause(rawValue: 9)
  /// The store said that there is no such item.
  public static let missing = StorageCause(rawValue: 10)
  /// The item is another journal's, and that journal was not found.
  public static let ownerMissing = StorageCause(rawValue: 11)
  /// The item is another journal's, which cannot be read.
  public static let ownerUnreadable = StorageCause(rawValue: 12)

  /// The word for each byte, from 0.
  public static let words = [
    "noRoom", "refused", "busy", "replaced", "unusable", "failed", "unavailable", "newerVersion",
    "obstructed", "tooLarge", "missing", "ownerMissing", "ownerUnreadable",
  ]
}
