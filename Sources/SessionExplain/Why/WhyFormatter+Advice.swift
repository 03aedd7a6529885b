// The sentences of advice, with `{}` for a value; `Specs/Why.md` has the same sentences.

extension AdviceWord {
  package var sentence: String {
    switch self {
    case .findLogoutCallers: "if nobody pressed it, look for callers of logout()"
    case .asRoot: "as for the expiry below"
    case .askWhoDeleted: "ask the backend who deleted the account, and when"
    case .reactivate: "have the account reactivated, then sign in"
    case .serverGrace:
      "give the server a grace time for a repeated refresh token (RFC 9700 §4.14.2), "
        + "or make its rotation idempotent"
    case .serverLogNear: "look at the server's log near {}"
    case .serverLogForToken: "look at the server's log for the token id {}"
    case .finishInBackground:
      "ask the system for time to finish a refresh when the app leaves the foreground "
        + "(SessionLifecycle)"
    case .crashReports:
      "look for crash reports of the app; on Linux, URLSession ends the process at two kinds of answers "
        + "(Specs/URLSession.md)"
    case .makeStorable:
      "look at what the app did with the error of close(): it names the file or item, and the system's reason"
    case .longerGrace:
      "keep the app's other processes from being suspended in the middle of a refresh"
    case .deviceOnlySecrets:
      "keep secrets on this device only: not in backups, not on a second device"
    case .compareTokenUses:
      "compare with all uses of this token in the server's log; end the user's other "
        + "sessions if they are not the user's"
    case .lookWhoEnded: "look at the server who or what ended the session"
    case .longerRefreshToken:
      "let refresh tokens live longer at the server, or refresh in the background"
    case .sameBackend: "check that the app talks to the backend that it signed in to at {}"
    case .tellingCode:
      "have the server send a code that says which: TOKEN_REUSED, TOKEN_REVOKED, "
        + "TOKEN_EXPIRED"
    case .nameCodes:
      "name the server's codes and their meanings in the app's configuration "
        + "(AuthBackend.errorCodes), so that the journal keeps them"
    case .lookUpCode: "look up what the server means by {}"
    case .checkUserClaim: "find out why the server answered with another user's token"
    case .issueRefreshTokens:
      "have the server issue a refresh token, or correct response.refreshToken of the backend"
    case .lookAtItem:
      "find out why no refresh token could be read: absent, kept aside, or another session's"
    case .nothingOnDevice: "nothing on the device: the server was failing"
    case .stayOnExhaustion:
      "ending.onExhaustion = .stay in the policy keeps the user signed in through such a time"
    case .honourWaits: "ask less often: longer delays, fewer attempts"
    case .shorterThreshold:
      "set the refresh threshold below half of the token's life of {}, or let tokens "
        + "live longer"
    case .compareWire: "compare the backend's response paths with a response of the server"
    case .checkClient: "check client id, secret and method of the app's registration"
    case .checkPath: "check the path of the refresh in the wire"
    case .seeClasses: "see the failures, one by one"
    case .checkExpiresIn: "check the server's expires_in, and response.lifetime of the backend"
    case .clockIsUsers: "nothing: the device's clock was wrong"
    case .signInAgain: "sign in again"
    case .checkStore:
      "check the place of the secrets: its room, its rights, and whether it was locked"
    case .updateApp: "update the app to the version that was installed before"
    case .sendItemFacts:
      "send the length and version of the item that was kept aside, never its bytes"
    case .noJournalBackup: "keep journal and secrets out of backups, or restore neither"
    case .raiseLimit: "raise ending.inactivityLimit in the policy if that was too soon"
    case .raiseLifetime:
      "raise ending.absoluteLifetime in the policy, or what the backend says, if that was too soon"
    case .newerTool: "a newer sessionreplay"
    case .noSignInScreen:
      "the app must not show its sign-in: the session is there, and goes on when the "
        + "server is reached"
    case .networkSignIn: "sign in to the network, then open the app"
    case .waitForNextTry: "wait, or bring the app to the foreground: it asks at once"
    case .firstUnlock: "open the app after the device was unlocked once"
    case .openOrFollow: "open the app, or watch it: sessionreplay follow"
    case .checkPermission: "check what the user may switch to"
    case .trySwitchAgain: "try the switch again"
    case .toldAtOpen: "it is told again when the app is opened next"
    case .endAtServer: "end the session at the server by hand if it must not live on"
    case .keepJournal: "keep the journal where the secrets are kept: both go, or none"
    case .keepAside:
      "the bytes are kept beside the journal; look at why the process ended in the "
        + "middle of a commit"
    case .keptOrDropped:
      "the bytes are kept beside the journal, or in the OUT.dropped of sessionreplay repair"
    case .setAsideCopy: "verify the journal that was set aside: sessionreplay verify"
    }
  }
}
