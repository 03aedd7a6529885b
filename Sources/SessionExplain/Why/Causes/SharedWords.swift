extension CauseFamily {
  /// What several families say.
  static let shared = CauseFamily(
    findings: [
      .noLogoutByApp, .noRefusalOfUser, .tokenHadLife, .tokenRefreshable, .clockAgrees,
      .everyRequestAnswered, .oneProcess, .nothingUnreadable, .noEnd, .serverSaid, .noReplyTo,
      .answerDropped, .answerUnused, .noEndOf, .systemRestarted, .answeredLate, .noneToRead,
      .clockSetForward, .clockSetBack, .clockWentBack, .serverClockBehind, .serverClockAhead,
      .itemNotRead, .storeFailed, .storeRecovered, .nobodySignedOut, .nobodyEnded, .nextTry,
      .tokenOver, .otherJournalsSecrets, .revocationDone, .thresholdTooLong, .rotatedReplyLost,
      .answerHeldOnlyToken, .otherCopyUsed, .revokedAtServer, .signedOutElsewhere, .passwordChanged,
      .administrator, .expiredAtServer, .livedItsTime, .wrongPath, .itemsNotMoved, .keychainCleared,
      .accessLost, .journalRestored, .answerNotStored, .itemGarbled, .reinstalled, .journalDeleted,
      .killedBySystem, .crashed, .closedByUser, .suspended, .sessionDisplaced, .otherSignIn,
      .oldRowRemoved, .userRemoved, .refusedInFront, .sessionAge, .serverWindow,
    ],
    untold: [
      .policyLimits, .beforeCompaction, .oneOpeningOnly, .startedAnew, .startUnnamed, .clockSince,
      .clocksDrift, .behindDamage, .lostBetween, .missingRecords, .leftOut, .processDeath,
      .networkDid, .adoptedBefore, .cutTail, .newerRecords, .otherJournal, .secretStore,
    ],
    advice: [
      .serverGrace, .serverLogNear, .serverLogForToken, .serverLogForRedactedToken, .makeStorable,
      .longerGrace, .lookWhoEnded,
      .issueRefreshTokens, .shorterThreshold, .checkPath, .signInAgain, .checkStore, .sendItemFacts,
      .keepJournal, .setAsideCopy, .checkUserExists,
    ])
}

extension FindingWord {
  package static let noLogoutByApp = FindingWord(
    "noLogoutByApp", against: "user action",
    "no logout by the app since {}")
  package static let noRefusalOfUser = FindingWord(
    "noRefusalOfUser", against: "refusal",
    "no final refusal of {} is recorded")
  package static let tokenHadLife = FindingWord(
    "tokenHadLife", against: "local expiry",
    "{} had {} left")
  package static let tokenRefreshable = FindingWord(
    "tokenRefreshable", against: "local expiry",
    "{} had a refresh token")
  package static let clockAgrees = FindingWord(
    "clockAgrees", against: "device clock",
    "{} openings in one start of the system, from {} to {}, agree within {}")
  package static let everyRequestAnswered = FindingWord(
    "everyRequestAnswered", against: "lost reply",
    "{} since {}; each got a response, or was not sent")
  package static let oneProcess = FindingWord(
    "oneProcess", against: "another process",
    "{} since {}, all sent by process {}")
  package static let nothingUnreadable = FindingWord(
    "nothingUnreadable", against: "storage",
    "no failure of the secret store, no unreadable item and no cut tail is recorded since {}")
  package static let noEnd = FindingWord(
    "noEnd", against: "end of the session",
    "no end of a session is recorded since {}")
  package static let serverSaid = FindingWord(
    "serverSaid",
    "the server's response: {}")
  package static let noReplyTo = FindingWord(
    "noReplyTo",
    "no complete response to {} is recorded")
  package static let answerDropped = FindingWord(
    "answerDropped",
    "the response to {} arrived, and could not be stored before the session was closed: {}")
  package static let answerUnused = FindingWord(
    "answerUnused",
    "the response to {} had a token that is not used: another process's token came first")
  package static let noEndOf = FindingWord(
    "noEndOf",
    "no record has the end of {}")
  package static let systemRestarted = FindingWord(
    "systemRestarted",
    "{} was written after another start of the system, or on another system; the process that "
      + "sent {} did not come back")
  package static let answeredLate = FindingWord(
    "answeredLate",
    "{} had been presumed lost when its response was recorded at {}: {}")
  package static let noneToRead = FindingWord(
    "noneToRead",
    "no refresh token could be read for {}")
  package static let clockSetForward = FindingWord(
    "clockSetForward",
    "the device's clock was set forward by {} between {} and {}")
  package static let clockSetBack = FindingWord(
    "clockSetBack",
    "the device's clock was set back by {} between {} and {}")
  package static let clockWentBack = FindingWord(
    "clockWentBack",
    "{} was written {} before the record above it: the clock was set back, or two clocks disagree")
  package static let serverClockBehind = FindingWord(
    "serverClockBehind",
    "this device's time was {} ahead of the server's at {}")
  package static let serverClockAhead = FindingWord(
    "serverClockAhead",
    "the server's time was {} ahead of this device's at {}")
  package static let itemNotRead = FindingWord(
    "itemNotRead",
    "the stored {} could not be read; its bytes are kept beside it")
  package static let storeFailed = FindingWord(
    "storeFailed",
    "at {} {}")
  package static let storeRecovered = FindingWord(
    "storeRecovered",
    "it worked again at {}")
  package static let nobodySignedOut = FindingWord(
    "nobodySignedOut",
    "the user stays signed in: a failure without a response of the server ends no session")
  package static let nobodyEnded = FindingWord(
    "nobodyEnded",
    "the user stays signed in")
  package static let nextTry = FindingWord(
    "nextTry",
    "the next try is at {}")
  package static let tokenOver = FindingWord(
    "tokenOver",
    "the lifetime of {} was over at {}")
  package static let otherJournalsSecrets = FindingWord(
    "otherJournalsSecrets",
    "stored secrets belonged to another journal, and were wiped")
  package static let revocationDone = FindingWord(
    "revocationDone",
    "the server received the revocation of {}: {}")
  package static let thresholdTooLong = FindingWord(
    "thresholdTooLong",
    "{} of {} scheduled refreshes came at half of the token's lifetime, or before: the refresh "
      + "threshold is at least half of {}")
  package static let rotatedReplyLost = FindingWord(
    "rotatedReplyLost",
    "the server rotated {} at {}, and its response was lost")
  package static let answerHeldOnlyToken = FindingWord(
    "answerHeldOnlyToken",
    "the response to {} had the only token that the server still accepted")
  package static let otherCopyUsed = FindingWord(
    "otherCopyUsed",
    "another copy of the refresh token of {} was used")
  package static let revokedAtServer = FindingWord(
    "revokedAtServer",
    "the session was revoked at the server")
  package static let signedOutElsewhere = FindingWord(
    "signedOutElsewhere",
    "the user signed out elsewhere")
  package static let passwordChanged = FindingWord(
    "passwordChanged",
    "the password was changed")
  package static let administrator = FindingWord(
    "administrator",
    "an administrator ended it")
  package static let expiredAtServer = FindingWord(
    "expiredAtServer",
    "the refresh token had outlived its time at the server")
  package static let livedItsTime = FindingWord(
    "livedItsTime",
    "it had reached its longest lifetime at the server, however often it was used")
  package static let wrongPath = FindingWord(
    "wrongPath",
    "the path of the refresh is not the backend's")
  package static let itemsNotMoved = FindingWord(
    "itemsNotMoved",
    "the app was moved to a new device, but its items were not")
  package static let keychainCleared = FindingWord(
    "keychainCleared",
    "the stored items were cleared")
  package static let accessLost = FindingWord(
    "accessLost",
    "the items are in another {} than before")
  package static let journalRestored = FindingWord(
    "journalRestored",
    "an older copy of the journal was restored")
  package static let answerNotStored = FindingWord(
    "answerNotStored",
    "a newer token could not be stored at {}, and an older one was sent")
  package static let itemGarbled = FindingWord(
    "itemGarbled",
    "its bytes were changed or cut short")
  package static let reinstalled = FindingWord(
    "reinstalled",
    "the app was deleted and installed again")
  package static let journalDeleted = FindingWord(
    "journalDeleted",
    "the journal was deleted")
  package static let killedBySystem = FindingWord(
    "killedBySystem",
    "the system killed the process")
  package static let crashed = FindingWord(
    "crashed",
    "the process crashed")
  package static let closedByUser = FindingWord(
    "closedByUser",
    "the user closed the app")
  package static let suspended = FindingWord(
    "suspended",
    "the process was suspended, or hung")
  package static let sessionDisplaced = FindingWord(
    "sessionDisplaced",
    "a newer sign-in of the user displaced it: the server limits the number of sessions")
  package static let otherSignIn = FindingWord(
    "otherSignIn",
    "the server ended all sessions of the user because of another sign-in")
  package static let oldRowRemoved = FindingWord(
    "oldRowRemoved",
    "the server removed the old row of the session from its database")
  package static let userRemoved = FindingWord(
    "userRemoved",
    "the user was deleted at the server")
  package static let refusedInFront = FindingWord(
    "refusedInFront",
    "something in front of the server refused the request: a firewall, a proxy or a gateway")
  package static let sessionAge = FindingWord(
    "sessionAge",
    "by this device's clock {} had passed since the login")
  package static let serverWindow = FindingWord(
    "serverWindow",
    "the server lets a session last for {} at most, however often it is refreshed: that round time "
      + "had just passed since the login")
}

extension UntoldWord {
  package static let policyLimits = UntoldWord(
    "policyLimits",
    "the policy's limits")
  package static let beforeCompaction = UntoldWord(
    "beforeCompaction",
    "what came before {}: it was compacted")
  package static let oneOpeningOnly = UntoldWord(
    "oneOpeningOnly",
    "whether the clock was set: there is no second opening to compare the first with")
  package static let startedAnew = UntoldWord(
    "startedAnew",
    "whether the clock was set: the system was restarted between two openings")
  package static let startUnnamed = UntoldWord(
    "startUnnamed",
    "whether the clock was set: an opening does not name its start of the system")
  package static let clockSince = UntoldWord(
    "clockSince",
    "whether the clock was set after {}: no process opened the journal since")
  package static let clocksDrift = UntoldWord(
    "clocksDrift",
    "whether the clock was set: openings in one start of the system are up to {} apart")
  package static let behindDamage = UntoldWord(
    "behindDamage",
    "what follows from byte {} on: it cannot be used")
  package static let lostBetween = UntoldWord(
    "lostBetween",
    "what the lost {} from byte {} on said")
  package static let missingRecords = UntoldWord(
    "missingRecords",
    "what records {} to {} said, which are missing")
  package static let leftOut = UntoldWord(
    "leftOut",
    "what {} means: the state before it does not allow it")
  package static let processDeath = UntoldWord(
    "processDeath",
    "why a process ended")
  package static let networkDid = UntoldWord(
    "networkDid",
    "what happened to the request on its way")
  package static let adoptedBefore = UntoldWord(
    "adoptedBefore",
    "what the tokens were used for before they were adopted")
  package static let cutTail = UntoldWord(
    "cutTail",
    "what the tail said that was cut off at {}")
  package static let newerRecords = UntoldWord(
    "newerRecords",
    "what records of a newer version say")
  package static let otherJournal = UntoldWord(
    "otherJournal",
    "what the journal held that this one continues (see {})")
  package static let secretStore = UntoldWord(
    "secretStore",
    "failures of the secret store: not every process could record them")
}

extension AdviceWord {
  package static let serverGrace = AdviceWord(
    "serverGrace",
    "let the server accept a repeated refresh token for some seconds (RFC 9700 §4.14.2), or make "
      + "its rotation idempotent")
  package static let serverLogNear = AdviceWord(
    "serverLogNear",
    "look at the server's log near {}")
  package static let serverLogForToken = AdviceWord(
    "serverLogForToken",
    "look at the server's log for the token id {}")
  package static let serverLogForRedactedToken = AdviceWord(
    "serverLogForRedactedToken",
    "look at the server's log for the token's id: the journal has it, and it is redacted here")
  package static let makeStorable = AdviceWord(
    "makeStorable",
    "see what the app did with the error of close(): it names the file or item, and the system's "
      + "reason")
  package static let longerGrace = AdviceWord(
    "longerGrace",
    "keep the app's other processes from being suspended during a refresh")
  package static let lookWhoEnded = AdviceWord(
    "lookWhoEnded",
    "find out at the server who or what ended the session")
  package static let issueRefreshTokens = AdviceWord(
    "issueRefreshTokens",
    "have the server issue a refresh token, or correct response.refreshToken of the backend")
  package static let shorterThreshold = AdviceWord(
    "shorterThreshold",
    "set the refresh threshold below half of the token's lifetime of {}, or let tokens live "
      + "longer")
  package static let checkPath = AdviceWord(
    "checkPath",
    "check the path of the refresh request in the backend's configuration")
  package static let signInAgain = AdviceWord(
    "signInAgain",
    "sign in again")
  package static let checkStore = AdviceWord(
    "checkStore",
    "check the location of the secrets: {}")
  package static let sendItemFacts = AdviceWord(
    "sendItemFacts",
    "send the length and version of the item that was kept aside, never its bytes")
  package static let keepJournal = AdviceWord(
    "keepJournal",
    "keep the journal and the secrets together: both or none")
  package static let setAsideCopy = AdviceWord(
    "setAsideCopy",
    "verify the journal that was set aside: sessionreplay verify")
  package static let checkUserExists = AdviceWord(
    "checkUserExists",
    "check that the user still exists at the server: some servers respond to the refresh of a "
      + "deleted user with 500 (simplejwt 5.5.1)")
}
