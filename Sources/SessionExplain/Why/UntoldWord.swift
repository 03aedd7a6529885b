/// A question that the journal does not answer.
///
/// The raw value is the name in JSON, which never changes.
package enum UntoldWord: String, CaseIterable, Sendable {
  case personOrProgram = "personOrProgram"
  case serverLog = "serverLog"
  case otherDevices = "otherDevices"
  case whichItem = "whichItem"
  case failedSignIns = "failedSignIns"
  case whoElse = "whoElse"
  case policyLimits = "policyLimits"
  case beforeCompaction = "beforeCompaction"
  case oneOpeningOnly = "oneOpeningOnly"
  case startedAnew = "startedAnew"
  case startUnnamed = "startUnnamed"
  case clockSince = "clockSince"
  case clocksDrift = "clocksDrift"
  case behindDamage = "behindDamage"
  case lostBetween = "lostBetween"
  case missingRecords = "missingRecords"
  case leftOut = "leftOut"
  case processDeath = "processDeath"
  case networkDid = "networkDid"
  case adoptedBefore = "adoptedBefore"
  case cutTail = "cutTail"
  case newerRecords = "newerRecords"
  case otherJournal = "otherJournal"
  case secretStore = "secretStore"
}

extension UntoldWord {
  /// The sentence, with `{}` for a value.
  package var sentence: String {
    switch self {
    case .personOrProgram: "whether a person or a program requested it"
    case .serverLog: "what the server logged"
    case .otherDevices: "what other devices did"
    case .whichItem: "which item it was"
    case .failedSignIns: "logins that failed: they are not recorded"
    case .whoElse: "which other processes opened the journal: {} processes may be alive"
    case .policyLimits: "the policy's limits"
    case .beforeCompaction: "what came before {}: it was compacted"
    case .oneOpeningOnly:
      "whether the clock was set: there is no second opening to compare the first with"
    case .startedAnew: "whether the clock was set: the system was restarted between two openings"
    case .startUnnamed:
      "whether the clock was set: an opening does not name its start of the system"
    case .clockSince: "whether the clock was set after {}: no process opened the journal since"
    case .clocksDrift:
      "whether the clock was set: openings in one start of the system are up to {} apart"
    case .behindDamage: "what follows from byte {} on: it cannot be used"
    case .lostBetween: "what the lost {} from byte {} on said"
    case .missingRecords: "what records {} to {} said, which are missing"
    case .leftOut: "what {} means: the state before it does not allow it"
    case .processDeath: "why a process ended"
    case .networkDid: "what happened to the request on its way"
    case .adoptedBefore: "what the tokens were used for before they were adopted"
    case .cutTail: "what the tail said that was cut off at {}"
    case .newerRecords: "what records of a newer version say"
    case .otherJournal: "what the journal held that this one continues (see {})"
    case .secretStore: "failures of the secret store: not every process could record them"
    }
  }
}
