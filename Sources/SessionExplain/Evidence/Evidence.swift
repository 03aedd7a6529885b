@_spi(Internals) import SessionCore

/// What the journal has about one end of a session, about a record, or about a session that has not
/// ended: all that an explanation is made from, bounded whatever the length of the journal.
package struct Evidence: Sendable {
  /// What is to be explained.
  package enum Subject: Sendable {
    /// The event that ended a session: the last of its kind in its batch.
    case end(Fact)
    /// The session as it stands at the end of what was read.
    case open(last: Fact?)
    /// One record.
    case record(Fact)
  }

  package var subject: Subject
  /// The records of the subject's own batch, the first and the last of them.
  var batch: [Fact] = []
  /// The state before the batch's first end, and the one behind it.
  var before = SessionState.Kind.unauthenticated
  var after: SessionFold
  /// What began the session; `nil` where that is not in the file.
  var login: Fact?
  /// The first record that the file has one by one; behind 1 where it was compacted.
  var firstSequence: UInt64
  /// Of the token that was current at the end; `nil` where nobody was signed in.
  var token: TokenHistory?
  /// Of the tokens of this sign-in that came before it.
  var earlier = EarlierTokens()
  /// The last openings and closings before.
  var openings: [Fact] = []
  /// The processes that may be alive: opened, and not known to be gone.
  var processes: ProcessTrail
  /// What openings of this session found.
  var remarks: [Fact] = []
  /// What the secret store did not do.
  var storage = StorageTrail()
  var clock: ClockTrail
  var schedule: ScheduleTrail
  /// The last record before the batch.
  var lastBefore: Fact?
  /// What comes behind: at most ``keptBehind`` records, to the next login.
  var aftermath: [Fact] = []
  /// The expiry that a logout settles.
  var root: [Evidence] = []
  /// What the journal keeps of secrets that were wiped where no session was.
  var stray: Fact?
  /// Where the journal says that it goes on from another one.
  var continued: Fact?
  /// Whether a record of a newer version was passed over.
  var isWhole = true
  /// Whether bytes were cut off in this session that may have been acknowledged.
  var hasDoubtfulCut = false
  /// Where records are missing in this session: before what is explained, and after it.
  var gaps: [EvidenceGap] = []
  var gapsAfter: [EvidenceGap] = []
  /// The note after a gap that is about the end of the current token, if that end is lost.
  var lostEnd: Fact?
  /// Whether only a record after a gap says that somebody was signed in.
  var isAssumed = false
  /// Where bytes begin that may have been acknowledged and cannot be used, if reading ended there.
  var damagedAt: UInt64?

  static let keptBehind = 16
  static let keptBatch = 16
  static let keptOpenings = 8

  /// Where the file was compacted: the last record that is gone; `nil` where it has all of them.
  var compactedBefore: UInt64? { firstSequence > 1 ? firstSequence - 1 : nil }

  /// The first record of the session that the file has.
  var sessionStart: UInt64 { login?.sequence ?? firstSequence }

  /// The place of what is to be explained.
  var place: Fact? {
    switch subject {
    case .end(let fact), .record(let fact): fact
    case .open(let last): last
    }
  }

  /// Why the session expired, where its end is an expiry.
  var expiry: Fact? { batch.last { $0.expiry != nil } }

  /// Why it was closed for good.
  var logout: Fact? { batch.last { $0.logout != nil } }

  /// The failure that was noted in the same batch.
  var failure: Fact? { batch.last { $0.refreshFailed != nil } }

  /// Of which token's end a record says whether the server was told.
  var revocation: Generation? {
    guard case .record(let fact) = subject else { return nil }
    if case .revocationPending(let generation)? = fact.note { return generation }
    return fact.revocationSettled?.generation
  }

  /// Keeps what says more of telling the server, in place of what said it before.
  mutating func keepRevocation(of generation: Generation, _ fact: Fact) {
    if fact.revocationSettled?.generation == generation {
      aftermath.removeAll { $0.revocationSettled != nil }
      aftermath.append(fact)
    } else if fact.isLogin, !aftermath.contains(where: \.isLogin) {
      aftermath.append(fact)
    }
  }

  /// Where the session ended behind what is explained.
  var endedBehind: Fact? { aftermath.first(where: \.isEnd) }

  /// Where the user signed in again.
  var signedInAgain: UInt64? { aftermath.first { $0.isLogin }?.sequence }
}

/// A place in a journal where records are missing, and more can be read after it.
package struct EvidenceGap: Hashable, Sendable {
  /// The last record before it that was read; 0 for none.
  package let after: UInt64
  /// Where the lost bytes begin, and how many they are.
  package let offset: UInt64
  package let bytes: UInt64
  /// The sequences that are known to be lost; `nil` if nothing tells.
  package var sequences: ClosedRange<UInt64>?
  /// Whether it is a record that can be read and is left out: the state before it does not allow it.
  package var isLeftOut: Bool

  package init(
    after: UInt64, offset: UInt64, bytes: UInt64, sequences: ClosedRange<UInt64>? = nil,
    isLeftOut: Bool = false
  ) {
    self.after = after
    self.offset = offset
    self.bytes = bytes
    self.sequences = sequences
    self.isLeftOut = isLeftOut
  }
}

/// Who opened a journal or sent a request: a process number, and which opening where the note says so.
struct Opener: Hashable, Sendable {
  let process: UInt32
  let identity: ProcessIdentity?

  init(_ opened: SessionNote.Opened) { (process, identity) = (opened.process, opened.identity) }
  init(_ sent: SessionNote.RequestSent) { (process, identity) = (sent.process, sent.identity) }

  /// Whether both may be one process: equal numbers prove nothing, other facts may prove that not.
  func mayBe(_ other: Opener) -> Bool {
    guard process == other.process else { return false }
    guard let identity, let others = other.identity else { return true }
    let isOther = differ(identity.boot, others.boot) || differ(identity.namespace, others.namespace)
    return !isOther && !isEarlierLife(other) && !other.isEarlierLife(self)
  }

  /// Whether both are one process, as far as their notes can show: those without an identity have
  /// their numbers alone.
  func isTaken(for other: Opener) -> Bool {
    guard let identity, let others = other.identity else { return process == other.process }
    return identity.opening == others.opening
      || identity.isSameProcess(process, as: others, other.process)
  }

  /// Whether the number is another process's since: this one is gone.
  func isEarlierLife(_ other: Opener) -> Bool {
    guard process == other.process, let identity, let others = other.identity,
      identity.boot != nil, identity.boot == others.boot, identity.namespace != nil,
      identity.namespace == others.namespace, identity.start != 0, others.start != 0
    else { return false }
    return identity.start != others.start
  }

  private func differ(_ one: Identifier?, _ other: Identifier?) -> Bool {
    one != nil && other != nil && one != other
  }
}

/// Which processes may be at it: `closed` does not say whose it is.
struct ProcessTrail: Hashable, Sendable {
  /// The openings of the journal that are not known to have ended.
  private(set) var living: [Opener] = []
  private var closings = 0
  /// Where the journal was closed last.
  private(set) var lastClosing: UInt64 = 0
  /// Who closed it then; `nil` if more than one process may have had it open.
  private(set) var lastCloser: Opener?
  /// In which start of the system the journal was opened last, and who opened it first in that.
  private(set) var boot: Identifier?
  private(set) var firstOfBoot: Fact?
  /// Whether there may be more than are kept.
  private(set) var isTooMany = false
  /// Where each process opened the journal last; the last ``kept`` of them.
  private var openings: [Opening] = []
  /// Where the journal was opened last.
  private var lastOpening: UInt64 = 0

  private struct Opening: Hashable, Sendable {
    let opener: Opener
    let sequence: UInt64
  }

  private static let kept = 16

  /// Behind a compaction: who was at it is not known.
  static let unknown = {
    var trail = ProcessTrail()
    trail.isTooMany = true
    return trail
  }()

  mutating func open(_ opened: SessionNote.Opened, _ fact: Fact) {
    // Of a start that is not named nobody can tell whether it is another one.
    if let boot, let other = opened.boot, other != boot { self = ProcessTrail() }
    if firstOfBoot == nil || opened.boot != boot { firstOfBoot = fact }
    boot = opened.boot
    lastOpening = fact.sequence
    let opener = Opener(opened)
    if opener.identity == nil { openings.removeAll { $0.opener == opener } }
    if openings.count == Self.kept { openings.removeFirst() }
    openings.append(Opening(opener: opener, sequence: fact.sequence))
    living.removeAll { $0.isEarlierLife(opener) }
    guard living.count < Self.kept else {
      isTooMany = true
      return
    }
    living.append(opener)
  }

  /// How many processes may be alive.
  var processCount: Int {
    living.enumerated().count { place, opener in
      !living[..<place].contains { $0.isTaken(for: opener) }
    }
  }

  mutating func close(_ fact: Fact) {
    lastClosing = fact.sequence
    lastCloser = !isTooMany && closings == 0 && living.count == 1 ? living.first : nil
    closings += 1
    guard closings >= living.count else { return }
    (living, closings) = ([], 0)
  }

  /// Where the opening that sent a request stands, or the last one with its number if the note does
  /// not say which; 0 where that is not known.
  func opening(of sender: Opener) -> UInt64 {
    openings.last { found in
      guard let identity = sender.identity, let other = found.opener.identity else {
        return found.opener.process == sender.process
      }
      return identity.opening == other.opening
    }?.sequence ?? 0
  }

  /// Where a process that may be the sender opened the journal last; 0 where that is not known.
  func lastOpening(of sender: Opener) -> UInt64 {
    openings.last { $0.opener.mayBe(sender) }?.sequence ?? 0
  }

  /// Whether no other process can have been at it since a record.
  func wasAlone(_ sender: Opener, since sequence: UInt64) -> Bool {
    !isTooMany && lastOpening < sequence && living.allSatisfy { $0.isTaken(for: sender) }
      && isCertain(sender)
  }

  /// Whether the note says which opening sent it, or only one with its number can have.
  func isCertain(_ sender: Opener) -> Bool {
    sender.identity != nil || living.count { $0.process == sender.process } <= 1
  }
}

/// When refreshes by schedule were made, in the life of their token.
struct ScheduleTrail: Hashable, Sendable {
  /// How many there were.
  private(set) var count: UInt64 = 0
  /// How many of them in the first half of the token's life, or hardly behind it.
  private(set) var early: UInt64 = 0
  /// The last of those.
  private(set) var lastEarly: Fact?
  /// The shortest and the longest life of the tokens they were made with, in milliseconds.
  private(set) var shortestLife = Int64.max
  private(set) var longestLife: Int64 = 0

  mutating func take(_ fact: Fact, of token: TokenMetadata) {
    guard let sent = fact.requestSent, sent.kind == .refresh, sent.trigger == .schedule,
      sent.generation == token.generation, token.lifetimeMilliseconds > 0
    else { return }
    count += 1
    // The timer of a threshold below half of the life rings in its second half.
    let half = token.lifetimeMilliseconds / 2 + token.lifetimeMilliseconds / 50
    guard fact.time.milliseconds(since: token.issuedAt) <= half else { return }
    early += 1
    lastEarly = fact
    shortestLife = min(shortestLife, token.lifetimeMilliseconds)
    longestLife = max(longestLife, token.lifetimeMilliseconds)
  }
}

extension Array {
  /// Appends a value, and drops the first one if there are so many already.
  mutating func append(_ value: Element, keeping most: Int) {
    if count >= most { removeFirst() }
    append(value)
  }
}
