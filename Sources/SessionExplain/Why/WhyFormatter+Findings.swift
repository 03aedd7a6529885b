// The sentences of findings, with `{}` for a value; `Specs/Why.md` has the same sentences.

extension FindingWord {
  /// The cause that a finding rules out; `nil` for any other finding.
  package var topic: String? {
    switch self {
    case .noLogoutByApp: "user action"
    case .noRefusalOfUser: "refusal"
    case .tokenHadLife, .tokenRefreshable: "local expiry"
    case .clockAgrees: "device clock"
    case .everyRequestAnswered: "lost reply"
    case .oneProcess: "another process"
    case .nothingSent, .notSent: "network"
    case .nothingUnreadable: "storage"
    case .noRefusalBefore: "earlier refusal"
    case .noOpeningBetween: "death of the process"
    case .noEnd: "end of the session"
    case .appCalledLogout, .settledExpiry, .serverSaid, .serverSaidOfUser, .serverSaidOfOlder,
      .familyEnded, .answerUnused, .noReplyTo, .noEndOf,
      .answerDropped, .rotatedAnswerDropped, .closedUnstored,
      .endUnnoted, .goneBeforeDeadline, .systemRestarted, .replacedAtOpening,
      .overtakenAfterDeadline, .cameBack, .answeredLate, .unusedUntold, .refusalDoubted,
      .countedFailures, .countNotWhole,
      .askedToWait, .noneToRead, .overtakenBefore, .lastUnansweredSo,
      .endedNothing, .endedBehind, .requestFailedSo, .lostBefore, .lostUnseen, .otherUserNamed,
      .otherNameOfUser, .otherUserIndeed, .revocationMoot,
      .lifeWasOver, .lifeNotOver, .deadOnArrival, .clockSetForward,
      .clockSetBack, .clockWentBack, .serverClockBehind, .serverClockAhead, .itemMissing,
      .itemNotRead, .storedTokenNewer, .storedTokenOlder, .itemsOfNewerVersion,
      .storeFailed, .storeRecovered, .unusedForLimit, .lastedForLifetime,
      .serverEndedIt, .newReason, .closedByPolicy, .endLost,
      .nobodySignedOut, .nobodyEnded, .noServerReached,
      .pageInstead, .serverFailedSince, .notReadYet, .nextTry, .tokenOver, .tokenLives,
      .signedInSince, .nobodyYet, .endedEarlier, .expiredEarlier, .otherJournalsSecrets,
      .leftoversGone, .switchRefusedBy, .switchFailedBy, .sessionAsItWas, .revocationOpen,
      .revocationLeft, .revocationFailed, .revocationDone, .revocationNotOffered,
      .refreshFailedSo, .refreshedLater, .eventRestored, .tailTorn, .tailDoubtful,
      .continuesJournal, .thresholdTooLong, .rotatedReplyLost, .rotatedAnswerUnusable,
      .answerHeldOnlyToken, .neverArrived, .oldWhenAdopted, .serverSwitched, .otherCopyUsed,
      .requestRepeated, .restoredBackup,
      .secondDevice,
      .stolen, .oldLayer, .lateTwin, .revokedAtServer, .signedOutElsewhere, .passwordChanged,
      .administrator, .expiredAtServer, .unusedTooLong, .livedItsTime, .clientChanged,
      .otherBackend,
      .databaseReset, .notCarried, .wireDoesNotFit, .wrongPath, .noLifetimeStated,
      .clockMadeItExpire, .itemsNotMoved, .keychainCleared, .accessLost, .journalRestored,
      .secretsRestored, .appDowngraded, .answerNotStored, .itemGarbled, .reinstalled,
      .journalDeleted, .captivePortal, .offline,
      .answerEndsProcess, .stillAtIt, .repaired, .killedBySystem, .crashed, .closedByUser,
      .suspended:
      nil
    }
  }

  package var sentence: String {
    switch self {
    case .noLogoutByApp: "no logout by the app since {}"
    case .noRefusalOfUser: "no final refusal of {} is journaled"
    case .tokenHadLife: "{} had {} left"
    case .tokenRefreshable: "{} was held with a refresh token"
    case .clockAgrees: "{} openings in one start of the system, from {} to {}, agree within {}"
    case .everyRequestAnswered: "{} since {}; each was answered, or not sent"
    case .oneProcess: "{} since {}, each made by process {}"
    case .nothingSent: "nothing was sent"
    case .notSent: "{} was not sent"
    case .nothingUnreadable:
      "no failure of the secret store, no unreadable item and no cut tail is journaled since {}"
    case .noRefusalBefore: "{} was not refused before {}"
    case .noOpeningBetween: "nobody opened the journal between {} and {}"
    case .noEnd: "no end of a session is journaled since {}"
    case .appCalledLogout: "the app called logout()"
    case .settledExpiry: "the session had expired at {}; the logout settled that"
    case .serverSaid: "the server's own word: {}"
    case .serverSaidOfUser: "the server said so of the user, when it was asked who that is"
    case .serverSaidOfOlder: "the server's own word on {}, which carried the older {}: {}"
    case .answerUnused:
      "the answer to {} held a token that is not used: another process's came first"
    case .noReplyTo: "no whole answer to {} is journaled"
    case .answerDropped:
      "the answer to {} came, and could not be stored until the session was closed: {}"
    case .noEndOf: "nothing names the end of {}"
    case .endUnnoted: "the end of {} was not journaled in time; it was taken for lost at {}"
    case .goneBeforeDeadline:
      "the process that sent {} did not come back: it was taken for gone at {}, {} before its deadline"
    case .systemRestarted:
      "{} was written in another start of the system, or on another system; the process that sent {} "
        + "did not come back"
    case .replacedAtOpening:
      "process {} had noted no end of {} when process {} opened the journal at {}"
    case .overtakenAfterDeadline:
      "process {} had noted no end of {} by its deadline; process {} took its place "
        + "at {}"
    case .overtakenBefore: "process {} had noted no end of {} when process {} took its place at {}"
    case .cameBack: "process {} came back and named {} again at {}"
    case .answeredLate:
      "{} had been taken for lost when its answer was noted at {}: {}"
    case .refusalDoubted: "the refusal of {} was doubted, and the server asked again"
    case .countedFailures: "{} answered between {} and {}: {}"
    case .countNotWhole: "at least {} answered: {}"
    case .askedToWait: "the server asked to wait, at the longest {}"
    case .noneToRead: "no refresh token could be read for {}"
    case .otherUserNamed:
      "{}, which had named the user, named another one than the one who is signed in"
    case .otherNameOfUser:
      "the answer called the same user something else: the app's version compared what different "
        + "sources say"
    case .otherUserIndeed: "the answer was another user's"
    case .lifeWasOver:
      "by this device's clock the life of {} was over at {}, and nothing could refresh it"
    case .lifeNotOver: "by the time of this record {} had {} left"
    case .deadOnArrival: "{} had {} to live when it came"
    case .clockSetForward: "the civil clock was set forward by {} between {} and {}"
    case .clockSetBack: "the civil clock was set back by {} between {} and {}"
    case .clockWentBack:
      "{} was written {} before the record above it: the civil clock was set back, or "
        + "two disagree"
    case .serverClockBehind: "this device's time was {} ahead of the server's at {}"
    case .serverClockAhead: "this device's time was {} behind the server's at {}"
    case .itemMissing: "a stored item that the policy requires was gone, or of another journal"
    case .itemNotRead: "the stored {} could not be read; its bytes are kept beside it"
    case .storedTokenNewer:
      "the stored token is newer than {}, and no event came with it that could be "
        + "used"
    case .storedTokenOlder: "the stored token is older than {}"
    case .storeFailed: "at {} {}"
    case .storeRecovered: "it worked again at {}"
    case .itemsOfNewerVersion:
      "a newer version of the library had written the stored items, and a new sign-in replaced them"
    case .unusedForLimit:
      "by this device's clock it was unused for as long as the policy allows; the record before "
        + "is {} older"
    case .lastedForLifetime:
      "by this device's clock it had lasted for {}, as long as the policy or the backend allows"
    case .serverEndedIt: "the server ended the session"
    case .newReason: "the reason is {}, which this version does not know"
    case .closedByPolicy:
      "the policy closed the session, and no expiry that says why can be read"
    case .endLost: "{} is about the end of the session of {}, and that end is lost"
    case .nobodySignedOut:
      "nobody was logged out: a failure that no server answered ends no session"
    case .nobodyEnded: "nobody was logged out"
    case .endedNothing: "this record ended nothing"
    case .endedBehind: "the session ended behind it, at {}"
    case .noServerReached: "{} failed since {}, and no answer to any of them counts"
    case .pageInstead: "something else than the server answered, last at {}"
    case .serverFailedSince: "{} answered by a failure since {}: {}"
    case .lastUnansweredSo: "the last one had no answer that counts: {}, at {}"
    case .notReadYet: "the refresh token could not be read yet, last at {}"
    case .nextTry: "the next try is at {}"
    case .tokenOver: "the life of {} was over at {}"
    case .tokenLives: "{} lives until {}"
    case .signedInSince: "signed in since {}"
    case .nobodyYet: "no sign-in is journaled up to {}"
    case .endedEarlier: "the session had ended before {}"
    case .expiredEarlier: "the session had expired at {}: {}"
    case .otherJournalsSecrets: "stored secrets belonged to another journal, and were wiped"
    case .leftoversGone: "stored secrets that no session owns were wiped"
    case .switchRefusedBy: "the server refused the switch: {}"
    case .switchFailedBy: "the switch failed: {}"
    case .sessionAsItWas: "the session went on with {} as before"
    case .revocationOpen: "the server was not told of the end of {} yet"
    case .revocationLeft:
      "the server was not told of the end of {}, and cannot be any more: what that "
        + "needs is gone"
    case .revocationFailed: "telling the server of the end of {} failed ({})"
    case .revocationDone: "the server was told of the end of {}: {}"
    case .revocationMoot: "the server refused the refresh token of {}: nothing was left to revoke"
    case .revocationNotOffered: "the backend offers no way to be told of the end of {}"
    case .refreshFailedSo: "the refresh of {} failed: {}"
    case .requestFailedSo: "the end of {}: {}"
    case .refreshedLater: "it succeeded at {}, with {}"
    case .eventRestored: "{} was stored and its event was missing; the event was added"
    case .tailTorn:
      "{} at the end were no whole commit, and nobody had been told that they were "
        + "written"
    case .tailDoubtful: "{} at the end were left out, and may have been acknowledged"
    case .continuesJournal: "it {}"
    case .thresholdTooLong:
      "{} of {} scheduled refreshes came in the first half of the token's life: the "
        + "refresh threshold is at least half of {}"
    case .rotatedReplyLost: "the server rotated {} at {}, and its reply was lost"
    case .rotatedAnswerDropped: "the server rotated {} at {}, and the new token was not stored"
    case .lostBefore: "the reply to a request with {} before {} was lost"
    case .lostUnseen: "the reply to a request with {} was lost that is not known here"
    case .rotatedAnswerUnusable: "the server rotated {} at {}, and answered {}"
    case .answerHeldOnlyToken: "the answer to {} held the only token that the server still took"
    case .neverArrived: "{} never reached the server"
    case .oldWhenAdopted: "the token was old when it was taken over"
    case .serverSwitched: "the server acted on {}, and its reply was lost"
    case .otherCopyUsed: "another copy of the refresh token of {} was used"
    case .requestRepeated: "the network brought the request {} to the server twice"
    case .restoredBackup: "a backup was restored"
    case .secondDevice: "a second device has a copy"
    case .stolen: "it was stolen"
    case .oldLayer: "the app's old layer used the token that was adopted"
    case .lateTwin:
      "{} reached the server late with the older {}, which the server took for a reuse"
    case .familyEnded:
      "{} brought the older {} to the server after a newer one had replaced it, and the server revoked the "
        + "whole family"
    case .revokedAtServer: "the session was revoked at the server"
    case .signedOutElsewhere: "the user signed out elsewhere"
    case .passwordChanged: "the password was changed"
    case .administrator: "an administrator ended it"
    case .expiredAtServer: "the refresh token had outlived its time at the server"
    case .livedItsTime: "it had lived its time at the server, however often it was used"
    case .unusedTooLong: "unused for {}: longer than the server lets the refresh token live"
    case .unusedUntold:
      "unused for longer than the server lets the refresh token live; the clock was set, and does "
        + "not tell for how long"
    case .clientChanged: "the client's registration changed"
    case .otherBackend: "the app talks to another server than before"
    case .databaseReset: "the server's database was reset"
    case .notCarried: "an answer did not carry a refresh token"
    case .wireDoesNotFit: "the backend's response paths do not match the server's responses"
    case .wrongPath: "the path of the refresh is not the backend's"
    case .noLifetimeStated: "the answer stated no lifetime, or 0"
    case .clockMadeItExpire: "without the clock's jump {} would have had {} left"
    case .itemsNotMoved: "the app was moved to a new device, whose items did not come with it"
    case .keychainCleared: "the stored items were cleared"
    case .accessLost: "the items are in another access group than before"
    case .journalRestored: "an older copy of the journal was restored"
    case .secretsRestored: "older secrets were restored from a backup"
    case .appDowngraded: "an earlier version of the app was installed over a later one"
    case .answerNotStored: "a newer token could not be stored at {}, and an older one was sent"
    case .itemGarbled: "its bytes were changed or cut short"
    case .reinstalled: "the app was deleted and installed again"
    case .journalDeleted: "the journal was deleted"
    case .captivePortal: "a captive portal or a proxy spoke in the server's place"
    case .offline: "the device is offline, or the server cannot be reached"
    case .stillAtIt: "the process is still at it"
    case .repaired: "sessionreplay repair made this file without it"
    case .killedBySystem: "the system killed the process"
    case .crashed: "the process crashed"
    case .closedByUser: "the user closed the app"
    case .closedUnstored:
      "the session was closed in good order while the answer could not be stored: earlier versions did not "
        + "note that"
    case .answerEndsProcess:
      "the answer ended the process: {} in a row left no end, and their processes did not come back"
    case .suspended: "the process was suspended, or hung"
    }
  }
}

extension UntoldWord {
  package var sentence: String {
    switch self {
    case .personOrProgram: "whether a person asked for it or a program"
    case .serverLog: "what the server logged"
    case .policyLimits: "the policy's limits"
    case .whichItem: "which item it was"
    case .beforeCompaction: "what came before {}: it was compacted"
    case .oneOpeningOnly:
      "whether the clock was set: there is no second opening to hold the first "
        + "against"
    case .startUnnamed:
      "whether the clock was set: an opening does not name the start of the system it was in"
    case .clockSince: "whether the clock was set behind {}: nobody opened the journal since"
    case .startedAnew:
      "whether the clock was set: the system was started anew between two openings"
    case .clocksDrift:
      "whether the clock was set: openings in one start of the system are up to {} apart"
    case .behindDamage: "what stands from byte {} on: it cannot be used"
    case .lostBetween: "what the {} from byte {} on said, which are lost"
    case .missingRecords: "what records {} to {} said, which are missing"
    case .leftOut: "what {} means: the state before it does not allow it"
    case .failedSignIns: "sign-ins that failed: they are not journaled"
    case .otherDevices: "what other devices did"
    case .processDeath: "why a process ended"
    case .networkDid: "what became of the request on its way"
    case .adoptedBefore: "what the tokens were used for before they were adopted"
    case .cutTail: "what stood in the tail that was cut off at {}"
    case .newerRecords: "what records of a newer version say"
    case .whoElse: "who else may have opened the journal: {} processes may be alive"
    case .secretStore: "failures of the secret store: not every process can have noted them"
    case .otherJournal: "what the journal held that this one goes on from (see {})"
    }
  }
}
