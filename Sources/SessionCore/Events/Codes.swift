/// How a user logged in.
///
/// - Requirement: LOG-5, LOG-9
public struct LoginMethod: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The name, or `unknown(n)`.
  public var description: String { word }

  /// With a user name or e-mail address, and a password.
  public static let password = LoginMethod(rawValue: 0)
  /// By creating the account.
  public static let registration = LoginMethod(rawValue: 1)
  /// With the token of a social identity provider.
  public static let social = LoginMethod(rawValue: 2)
  /// By unlocking a stored session with biometrics.
  public static let biometric = LoginMethod(rawValue: 3)
  /// By the user in a web view.
  public static let interactive = LoginMethod(rawValue: 4)
  /// By the identity provider, without a user interface.
  public static let silent = LoginMethod(rawValue: 5)
  /// By adopting tokens that the app already held.
  public static let adoption = LoginMethod(rawValue: 6)
  /// With a refresh token alone.
  ///
  /// - Requirement: LOG-15
  public static let refreshToken = LoginMethod(rawValue: 7)
  /// With a credential that only the app's own backend knows.
  public static let custom = LoginMethod(rawValue: 8)
}

@_spi(Internals) extension LoginMethod: OpenEnum {
  /// The name of each byte, from 0.
  public static let words = [
    "password", "registration", "social", "biometric", "interactive", "silent", "adoption",
    "refreshToken", "custom",
  ]
}

/// What started a refresh.
///
/// - Requirement: REF-1, REF-2
public struct RefreshTrigger: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The name, or `unknown(n)`.
  public var description: String { word }

  /// The scheduled time was reached: the expiry minus the policy's threshold.
  public static let schedule = RefreshTrigger(rawValue: 0)
  /// A protected call received the status 401.
  public static let unauthorized = RefreshTrigger(rawValue: 1)
  /// The session was opened with an expired token.
  public static let launch = RefreshTrigger(rawValue: 2)
  /// The app entered the foreground.
  public static let foreground = RefreshTrigger(rawValue: 3)
  /// The app requested it.
  public static let manual = RefreshTrigger(rawValue: 4)
  /// An earlier attempt failed with a temporary error.
  public static let retry = RefreshTrigger(rawValue: 5)
  /// A command needed a valid token first.
  public static let command = RefreshTrigger(rawValue: 6)
  /// No refresh: the user authenticated again, and the session goes on with the new tokens.
  ///
  /// - Requirement: LOG-16
  public static let reauthentication = RefreshTrigger(rawValue: 7)
}

@_spi(Internals) extension RefreshTrigger: OpenEnum {
  /// The name of each byte, from 0.
  public static let words = [
    "schedule", "unauthorized", "launch", "foreground", "manual", "retry", "command",
    "reauthentication",
  ]
}

/// What changed the active context.
///
/// - Requirement: STA-5, CTX-1
public struct SwitchTrigger: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The name, or `unknown(n)`.
  public var description: String { word }

  /// The user requested another role, school or unit.
  public static let user = SwitchTrigger(rawValue: 0)
  /// A refreshed token had other permissions.
  public static let server = SwitchTrigger(rawValue: 1)
}

@_spi(Internals) extension SwitchTrigger: OpenEnum {
  /// The name of each byte, from 0.
  public static let words = ["user", "server"]
}

/// Why a session is no longer usable, although its user is still known.
public struct ExpiryReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The name, or `unknown(n)`.
  public var description: String { word }

  /// The token expired, and there was no refresh token.
  public static let tokenExpired = ExpiryReason(rawValue: 0)
  /// The server rejected the refresh.
  ///
  /// - Requirement: REF-6
  public static let refreshRejected = ExpiryReason(rawValue: 1)
  /// The server responded to every attempt with a failure, up to the policy's limit.
  ///
  /// - Requirement: POL-2
  public static let attemptsExhausted = ExpiryReason(rawValue: 2)
  /// A stored item that the policy requires is missing.
  ///
  /// - Requirement: RES-1
  public static let secretsMissing = ExpiryReason(rawValue: 3)
  /// A stored item cannot be decoded.
  ///
  /// - Requirement: RES-2
  public static let corruptStorage = ExpiryReason(rawValue: 4)
  /// The stored token is older than the journal's: a backup was restored over it.
  public static let secretsOutdated = ExpiryReason(rawValue: 5)
  /// The server says that the account is inactive.
  ///
  /// - Requirement: LOG-6
  public static let userInactive = ExpiryReason(rawValue: 6)
  /// The session was unused for longer than the policy allows.
  ///
  /// - Requirement: POL-5
  public static let inactivity = ExpiryReason(rawValue: 7)
  /// The server ended the session.
  ///
  /// - Requirement: LOG-7
  public static let endedByServer = ExpiryReason(rawValue: 8)
  /// A newer version wrote the stored items, and a new login replaced them.
  ///
  /// - Requirement: RES-8
  public static let secretsNewer = ExpiryReason(rawValue: 9)
  /// The session reached the maximum lifetime of the policy or of a response of the backend.
  ///
  /// - Requirement: POL-10
  public static let lifetimeEnded = ExpiryReason(rawValue: 10)
  /// The key to which the server bound the tokens is gone, or is another one.
  ///
  /// - Requirement: INT-9
  public static let proofKeyLost = ExpiryReason(rawValue: 11)
}

@_spi(Internals) extension ExpiryReason: OpenEnum {
  /// The name of each byte, from 0.
  public static let words = [
    "tokenExpired", "refreshRejected", "attemptsExhausted", "secretsMissing", "corruptStorage",
    "secretsOutdated", "userInactive", "inactivity", "endedByServer",
    "secretsNewer", "lifetimeEnded", "proofKeyLost",
  ]
}

/// Why a session was closed permanently.
public struct LogoutReason: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The name, or `unknown(n)`.
  public var description: String { word }

  /// The user requested it, or the app on the user's behalf.
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
  /// The name of each byte, from 0.
  public static let words = ["user", "policy", "userDeleted"]
}

/// The requests that change or end a token.
@_spi(Internals) public struct RequestKind: OpenEnum {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A request for a new access token with a refresh token.
  public static let refresh = RequestKind(rawValue: 0)
  /// A request for a token in another role, school or unit.
  public static let switchContext = RequestKind(rawValue: 1)

  /// The name of each byte, from 0.
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

  /// The server confirmed every request of the revocation.
  public static let revoked = RevocationOutcome(rawValue: 0)
  /// The backend has no endpoint for revocation.
  public static let notOffered = RevocationOutcome(rawValue: 1)
  /// The outcome is unknown: a request got no response, or was rejected.
  ///
  /// It is tried again, at the latest when the session is opened.
  public static let failed = RevocationOutcome(rawValue: 2)
  /// The secrets for the revocation are gone: the refresh token may still be valid.
  public static let abandoned = RevocationOutcome(rawValue: 3)
  /// The token was already invalid, so that there was nothing to revoke.
  ///
  /// The server rejected the refresh token, or the access token of a session without one.
  public static let alreadyInvalid = RevocationOutcome(rawValue: 4)

  /// The name of each byte, from 0.
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

  /// The name, or `unknown(n)`.
  public var description: String { word }

  /// The access token and the refresh token.
  public static let token = SecretItem(rawValue: 0)
  /// The user's profile.
  public static let user = SecretItem(rawValue: 1)
  /// The active context.
  public static let context = SecretItem(rawValue: 2)
  /// The secrets that a pending revocation needs after the logout.
  public static let revocation = SecretItem(rawValue: 3)
  /// The refresh token, if the store keeps it in an item of its own.
  ///
  /// - Requirement: STO-2
  public static let refreshToken = SecretItem(rawValue: 4)
}

@_spi(Internals) extension SecretItem: OpenEnum {
  /// The name of each byte, from 0.
  public static let words = ["token", "user", "context", "revocation", "refreshToken"]
}

/// Why something could not be stored, or why a secret store failed.
///
/// - Requirement: REF-11, STO-5
@_spi(Internals) public struct StorageCause: OpenEnum {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The disk was full.
  public static let noRoom = StorageCause(rawValue: 0)
  /// This process had no permission to write.
  public static let refused = StorageCause(rawValue: 1)
  /// Another process held the journal's lock for too long.
  public static let busy = StorageCause(rawValue: 2)
  /// The file was gone, or another file had its place.
  public static let replaced = StorageCause(rawValue: 3)
  /// This version cannot use what is stored there.
  public static let unusable = StorageCause(rawValue: 4)
  /// The system failed otherwise, such as with a read or write error of the disk.
  public static let failed = StorageCause(rawValue: 5)
  /// The store cannot be read yet: the device is locked, or access is denied.
  public static let unavailable = StorageCause(rawValue: 6)
  /// A newer version of this library wrote the item.
  public static let newerVersion = StorageCause(rawValue: 7)
  /// Something else is in the place of the item.
  public static let obstructed = StorageCause(rawValue: 8)
  /// The item is larger than any secret can be.
  public static let tooLarge = StorageCause(rawValue: 9)
  /// The store reported that there is no such item.
  public static let missing = StorageCause(rawValue: 10)
  /// The item belongs to another journal, which was not found.
  public static let ownerMissing = StorageCause(rawValue: 11)
  /// The item belongs to another journal, which cannot be read.
  public static let ownerUnreadable = StorageCause(rawValue: 12)

  /// The name of each byte, from 0.
  public static let words = [
    "noRoom", "refused", "busy", "replaced", "unusable", "failed", "unavailable", "newerVersion",
    "obstructed", "tooLarge", "missing", "ownerMissing", "ownerUnreadable",
  ]
}

/// Why a new journal continues another one.
public struct ContinuationCause: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The name, or `unknown(n)`.
  public var description: String { word }

  /// The other journal was damaged, and was quarantined.
  public static let damaged = ContinuationCause(rawValue: 0)
  /// A newer version wrote the other journal, and it was quarantined.
  public static let newerVersion = ContinuationCause(rawValue: 1)
  /// The file in the journal's place was no journal, and was quarantined.
  public static let notAJournal = ContinuationCause(rawValue: 2)
  /// The other journal is gone, but the secrets of its session exist.
  public static let lost = ContinuationCause(rawValue: 3)
}

@_spi(Internals) extension ContinuationCause: OpenEnum {
  /// The name of each byte, from 0.
  public static let words = ["damaged", "newerVersion", "notAJournal", "lost"]
}

/// The kind of system on which an app runs.
///
/// - Requirement: RPL-8
@_spi(Internals) public struct Platform: OpenEnum {
  /// The byte in the journal.
  public let rawValue: UInt8

  /// The code with this byte, known or not.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A system that has no code of its own.
  public static let unknown = Platform(rawValue: 0)
  /// iOS or iPadOS.
  public static let iOS = Platform(rawValue: 1)
  /// macOS, also for an app of Mac Catalyst.
  public static let macOS = Platform(rawValue: 2)
  /// watchOS.
  public static let watchOS = Platform(rawValue: 3)
  /// tvOS.
  public static let tvOS = Platform(rawValue: 4)
  /// visionOS.
  public static let visionOS = Platform(rawValue: 5)
  /// Linux.
  public static let linux = Platform(rawValue: 6)
  /// Android.
  public static let android = Platform(rawValue: 7)
  /// Windows.
  public static let windows = Platform(rawValue: 8)

  /// The name of each byte, from 0.
  public static let words = [
    "unknown", "iOS", "macOS", "watchOS", "tvOS", "visionOS", "linux", "android", "windows",
  ]
}

/// Whether a logout also revokes the tokens at the server.
///
/// - Requirement: OUT-7
public enum LogoutScope: Hashable, Sendable {
  /// The user is logged out here, and the server revokes the session's tokens.
  case deviceAndServer
  /// The user is logged out here only: no request is sent, now or later.
  ///
  /// The tokens stay valid at the server until they expire. An identity provider that owns the
  /// tokens keeps the account. Revocations that an earlier end of a session began continue.
  case thisDeviceOnly
}

extension SessionNote {
  /// Why a session is locked.
  ///
  /// - Requirement: ACC-2
  public struct LockReason: OpenEnum {
    /// The byte in the journal.
    public let rawValue: UInt8

    /// The code with this byte, known or not.
    @inlinable
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The app locked it.
    public static let user = LockReason(rawValue: 0)
    /// It was unused for as long as the policy allows.
    public static let unused = LockReason(rawValue: 1)
    /// It was opened, and the policy locks it then.
    public static let launch = LockReason(rawValue: 2)

    /// The name of each byte, from 0.
    public static let words = ["user", "unused", "launch"]
  }
}
