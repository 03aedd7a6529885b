/// What the reader should do.
///
/// The raw value is the name in JSON, which never changes.
package enum AdviceWord: String, CaseIterable, Sendable {
  case findLogoutCallers = "findLogoutCallers"
  case asRoot = "asRoot"
  case newerTool = "newerTool"
  case askWhoDeleted = "askWhoDeleted"
  case reactivate = "reactivate"
  case newPassword = "newPassword"
  case allowSessions = "allowSessions"
  case giveFactor = "giveFactor"
  case unlockApp = "unlockApp"
  case raiseLimit = "raiseLimit"
  case raiseLifetime = "raiseLifetime"
  case finishInBackground = "finishInBackground"
  case crashReports = "crashReports"
  case deviceOnlySecrets = "deviceOnlySecrets"
  case compareTokenUses = "compareTokenUses"
  case longerRefreshToken = "longerRefreshToken"
  case sameBackend = "sameBackend"
  case tellingCode = "tellingCode"
  case nameCodes = "nameCodes"
  case lookUpCode = "lookUpCode"
  case checkUserClaim = "checkUserClaim"
  case lookAtItem = "lookAtItem"
  case nothingOnDevice = "nothingOnDevice"
  case stayOnExhaustion = "stayOnExhaustion"
  case honourWaits = "honourWaits"
  case compareWire = "compareWire"
  case checkClient = "checkClient"
  case seeClasses = "seeClasses"
  case checkExpiresIn = "checkExpiresIn"
  case clockIsUsers = "clockIsUsers"
  case updateApp = "updateApp"
  case noJournalBackup = "noJournalBackup"
  case keepKey = "keepKey"
  case checkEntitlement = "checkEntitlement"
  case noSignInScreen = "noSignInScreen"
  case networkSignIn = "networkSignIn"
  case waitForNextTry = "waitForNextTry"
  case firstUnlock = "firstUnlock"
  case openOrFollow = "openOrFollow"
  case doNotWait = "doNotWait"
  case loginAfterEnd = "loginAfterEnd"
  case lookInFront = "lookInFront"
  case checkPermission = "checkPermission"
  case trySwitchAgain = "trySwitchAgain"
  case toldAtOpen = "toldAtOpen"
  case endAtServer = "endAtServer"
  case keepAside = "keepAside"
  case keptOrDropped = "keptOrDropped"
  case serverGrace = "serverGrace"
  case serverLogNear = "serverLogNear"
  case serverLogForToken = "serverLogForToken"
  case serverLogForRedactedToken = "serverLogForRedactedToken"
  case makeStorable = "makeStorable"
  case longerGrace = "longerGrace"
  case lookWhoEnded = "lookWhoEnded"
  case issueRefreshTokens = "issueRefreshTokens"
  case shorterThreshold = "shorterThreshold"
  case checkPath = "checkPath"
  case signInAgain = "signInAgain"
  case checkStore = "checkStore"
  case sendItemFacts = "sendItemFacts"
  case keepJournal = "keepJournal"
  case setAsideCopy = "setAsideCopy"
  case checkUserExists = "checkUserExists"
}

extension AdviceWord {
  /// The sentence, with `{}` for a value.
  package var sentence: String {
    switch self {
    case .findLogoutCallers: "if the user did not ask for it, look for callers of logout()"
    case .asRoot: "see the expiry below"
    case .newerTool: "use a newer sessionreplay"
    case .askWhoDeleted: "ask the backend who deleted the account, and when"
    case .reactivate: "have the account reactivated, then sign in"
    case .newPassword: "sign in again with the new password"
    case .allowSessions: "allow more sessions for each user at the server, if the limit is too low"
    case .giveFactor:
      "let the user authenticate again with what the server demands: a further factor, a consent, or a "
        + "newer sign-in; reauthenticate(_:) needs no logout"
    case .unlockApp:
      "let the user unlock the app; a lock is no logout, and calls throw locked until then"
    case .raiseLimit: "raise ending.inactivityLimit in the policy if that was too soon"
    case .raiseLifetime:
      "raise ending.absoluteLifetime in the policy, or what the backend says, if that was too soon"
    case .finishInBackground: "let the process finish a refresh before it stops: {}"
    case .crashReports:
      "look for crash reports of the app; on Linux, URLSession ends the process at two kinds of "
        + "responses (Specs/URLSession.md)"
    case .deviceOnlySecrets:
      "keep secrets on this device only: not in backups, not on a second device"
    case .compareTokenUses:
      "compare with all uses of this token in the server's log; end the user's other sessions if "
        + "they are not the user's"
    case .longerRefreshToken:
      "let refresh tokens live longer at the server, or refresh in the background"
    case .sameBackend: "check that the app talks to the backend at which it signed in (see {})"
    case .tellingCode:
      "have the server send a code that says which: TOKEN_REUSED, TOKEN_REVOKED, TOKEN_EXPIRED"
    case .nameCodes:
      "name the server's codes and their meanings in the app's configuration "
        + "(AuthBackend.errorCodes), so that the journal keeps them"
    case .lookUpCode: "look up what the server means by {}"
    case .checkUserClaim: "find out why the server's response named another user"
    case .lookAtItem:
      "find out why no refresh token could be read: missing, set aside, or of another session"
    case .nothingOnDevice: "nothing on the device: the server was failing"
    case .stayOnExhaustion:
      "ending.onExhaustion = .stay in the policy keeps the user signed in through such a time"
    case .honourWaits: "send fewer requests: longer delays, fewer attempts"
    case .compareWire: "compare the backend's response paths with a response of the server"
    case .checkClient:
      "check client id, secret and method of the app's registration; a secret with reserved "
        + "characters may need the other form of HTTP Basic (ClientAuthentication.BasicPair)"
    case .seeClasses: "see the failures, one by one"
    case .checkExpiresIn: "check the server's expires_in, and response.lifetime of the backend"
    case .clockIsUsers: "nothing in the app: the device's clock was wrong"
    case .updateApp: "update the app to the version that was installed before"
    case .keepKey: "keep the key as long as the session, and in the same place as its secrets"
    case .noJournalBackup: "keep journal and secrets out of backups, or restore neither"
    case .checkEntitlement:
      "check the app's signature: it does not allow the keychain access group (status -34018, "
        + "errSecMissingEntitlement), and no retry helps"
    case .noSignInScreen:
      "do not show the login screen: the session continues when the server is reached"
    case .networkSignIn: "sign in to the network, then open the app"
    case .waitForNextTry: "wait, or bring the app to the foreground: it sends a request at once"
    case .firstUnlock: "open the app after the device was unlocked once"
    case .openOrFollow: "open the app, or watch it: sessionreplay follow"
    case .doNotWait: "do not wait: a later attempt sends the same request"
    case .loginAfterEnd:
      "if it is not repaired, let the user log in again: after {} the app's login() is accepted"
    case .lookInFront:
      "find out what responds with 403 in place of the server: a firewall, a gateway, or a filter "
        + "of the network"
    case .checkPermission: "check what the user may switch to"
    case .trySwitchAgain: "try the switch again"
    case .toldAtOpen: "the revocation is sent again when the app is opened next"
    case .endAtServer: "end the session at the server by hand if it must not continue"
    case .keepAside:
      "the bytes are kept beside the journal; find out why the process ended during a commit"
    case .keptOrDropped:
      "the bytes are kept beside the journal, or in the OUT.dropped of sessionreplay repair"
    case .serverGrace:
      "let the server accept a repeated refresh token for some seconds (RFC 9700 §4.14.2), or make "
        + "its rotation idempotent"
    case .serverLogNear: "look at the server's log near {}"
    case .serverLogForToken: "look at the server's log for the token id {}"
    case .serverLogForRedactedToken:
      "look at the server's log for the token's id: the journal has it, and it is redacted here"
    case .makeStorable:
      "see what the app did with the error of close(): it names the file or item, and the system's "
        + "reason"
    case .longerGrace: "keep the app's other processes from being suspended during a refresh"
    case .lookWhoEnded: "find out at the server who or what ended the session"
    case .issueRefreshTokens:
      "have the server issue a refresh token, or correct response.refreshToken of the backend"
    case .shorterThreshold:
      "set the refresh threshold below half of the token's lifetime of {}, or let tokens live "
        + "longer"
    case .checkPath: "check the path of the refresh request in the backend's configuration"
    case .signInAgain: "sign in again"
    case .checkStore: "check the location of the secrets: {}"
    case .sendItemFacts:
      "send the length and version of the item that was kept aside, never its bytes"
    case .keepJournal: "keep the journal and the secrets together: both or none"
    case .setAsideCopy: "verify the journal that was set aside: sessionreplay verify"
    case .checkUserExists:
      "check that the user still exists at the server: some servers respond to the refresh of a "
        + "deleted user with 500 (simplejwt 5.5.1)"
    }
  }
}
