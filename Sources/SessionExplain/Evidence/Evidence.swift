@_spi(Internals) package import SessionCore

/// The journal's records about an end, about one record, or about a session that has not ended.
///
/// An explanation is made only from this. Its size is bounded, however long the journal is.
package struct Evidence: Sendable {
  /// The subject of an explanation.
  package enum Subject: Sendable {
    /// The event that ended a session: the last of its kind in its batch.
    case end(Fact)
    /// The session in its state after the last record that was read.
    case open(last: Fact?)
    /// One record.
    case record(Fact)
  }

  package var subject: Subject
  /// The records of the subject's own batch; if there are too many, the least important are
  /// omitted.
  var batch: [Fact] = []
  /// The state before the batch's first end, and the state after the batch.
  var before = SessionState.Kind.unauthenticated
  var after: SessionFold
  /// The login that began the session; `nil` if the file does not have it.
  var login: Fact?
  /// The first record of the file apart from a snapshot; above 1 if the file was compacted.
  var firstSequence: UInt64
  /// The user of the session; `nil` if none is known, or if lost records may have another one.
  package var user: Identifier?
  /// The version of the app that last opened the journal; `nil` if it is not known.
  package var app: AppVersion?
  /// The kind of system of that opening; `nil` if it is not known.
  package var platform: Platform?
  /// The history of the token that was current at the end; `nil` if no user was logged in.
  var token: TokenHistory?
  /// The histories of the earlier tokens of the same login.
  var earlier = EarlierTokens()
  /// The last openings and closings before.
  var openings: [Fact] = []
  /// The processes that may be alive: they opened the journal, and their end is not known.
  var processes: ProcessTrail
  /// The notes of openings in this session about what they found.
  var remarks: [Fact] = []
  /// The failures of the secret store.
  var storage = StorageTrail()
  var clock: ClockTrail
  var schedule: ScheduleTrail
  /// The last record before the batch.
  var lastBefore: Fact?
  /// The records that follow: at most ``keptBehind``, up to the next login.
  var aftermath: [Fact] = []
  /// The expiry after which a logout came.
  var root: [Evidence] = []
  /// The note about wiped secrets while no user was logged in.
  var stray: Fact?
  /// The note that the journal continues another one.
  var continued: Fact?
  /// Whether no record of a newer version was skipped.
  var isWhole = true
  /// Whether bytes were cut off in this session that may have been acknowledged.
  var hasDoubtfulCut = false
  /// The gaps in this session before and after the subject.
  var gaps: [EvidenceGap] = []
  var gapsAfter: [EvidenceGap] = []
  /// The note after a gap that concerns the end of the current token, if that end is lost.
  var lostEnd: Fact?
  /// Whether only a record after a gap shows that a user was logged in.
  var isAssumed = false
  /// The offset of acknowledged, unusable bytes at which reading ended; `nil` if there are none.
  var damagedAt: UInt64?

  /// Whether the journal was last opened on a system without a foreground and a lock screen.
  var isOfServer: Bool { platform == .linux || platform == .windows }

  static let keptBehind = 16
  static let keptBatch = 16
  static let keptOpenings = 8

  /// The last record that a compaction removed; `nil` if the file has all records.
  var compactedBefore: UInt64? { firstSequence > 1 ? firstSequence - 1 : nil }

  /// The first record of the session in the file.
  var sessionStart: UInt64 { login?.sequence ?? firstSequence }

  /// The record of the subject.
  var place: Fact? {
    switch subject {
    case .end(let fact), .record(let fact): fact
    case .open(let last): last
    }
  }

  /// The expiry in the batch; `nil` if there is none.
  var expiry: Fact? { batch.last { $0.expiry != nil } }

  /// The logout in the batch; `nil` if there is none.
  var logout: Fact? { batch.last { $0.logout != nil } }

  /// The failure of a refresh in the same batch.
  var failure: Fact? { batch.last { $0.refreshFailed != nil } }

  /// The token in a record about a revocation; `nil` for any other subject.
  var revocation: Generation? {
    guard case .record(let fact) = subject else { return nil }
    if case .revocationPending(let generation)? = fact.note { return generation }
    return fact.revocationSettled?.generation
  }

  /// Keeps the latest record about a revocation, and the next login.
  mutating func keepRevocation(of generation: Generation, _ fact: Fact) {
    if fact.revocationSettled?.generation == generation {
      aftermath.removeAll { $0.revocationSettled != nil }
      aftermath.append(fact)
    } else if fact.isLogin, !aftermath.contains(where: \.isLogin) {
      aftermath.append(fact)
    }
  }

  /// Whether it is a logout after an expiry that the journal has too: it ends nothing.
  ///
  /// Another session may have begun in records that are lost between the two.
  var settlesExpiry: Bool { root.first.map { $0.gaps == gaps } ?? false }

  /// The first end of the session after the subject.
  var endedBehind: Fact? { aftermath.first(where: \.isEnd) }

  /// The sequence of the user's next login.
  var signedInAgain: UInt64? { aftermath.first { $0.isLogin }?.sequence }
}

/// A place in a journal at which records are missing, but later records can be read.
package struct EvidenceGap: Hashable, Sendable {
  /// The last record that was read before the gap; 0 if there is none.
  package let after: UInt64
  /// The offset and the number of the lost bytes.
  package let offset: UInt64
  package let bytes: UInt64
  /// The sequences that are known to be lost; `nil` if they are not known.
  package var sequences: ClosedRange<UInt64>?
  /// Whether the gap is a readable record that is left out, because the state before it does not
  /// allow it.
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

/// The process that opened a journal or sent a request: its number, and its opening if the note has
/// it.
struct Opener: Hashable, Sendable {
  let process: UInt32
  let identity: ProcessIdentity?

  init(_ opened: SessionNote.Opened) { (process, identity) = (opened.process, opened.identity) }
  init(_ sent: SessionNote.RequestSent) { (process, identity) = (sent.process, sent.identity) }

  /// Returns whether both may be the same process.
  ///
  /// Equal numbers do not prove it. Other facts may disprove it.
  func mayBe(_ other: Opener) -> Bool {
    guard process == other.process else { return false }
    guard let identity, let others = other.identity else { return true }
    let isOther = differ(identity.boot, others.boot) || differ(identity.namespace, others.namespace)
    return !isOther && !isEarlierLife(other) && !other.isEarlierLife(self)
  }

  /// Returns whether both are the same process, as far as their notes show.
  ///
  /// Without an identity, only the numbers are compared.
  func isTaken(for other: Opener) -> Bool {
    guard let identity, let others = other.identity else { return process == other.process }
    return identity.opening == others.opening
      || identity.isSameProcess(process, as: others, other.process)
  }

  /// Returns whether another process has had the same number since, so that this one has ended.
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

/// The processes that may be alive; a `closed` note does not name its process.
struct ProcessTrail: Hashable, Sendable {
  /// The openings of the journal that are not known to have ended.
  private(set) var living: [Opener] = []
  private var closings = 0
  /// The sequence of the last `closed` note.
  private(set) var lastClosing: UInt64 = 0
  /// The process of that note; `nil` if more than one process may have had the journal open.
  private(set) var lastCloser: Opener?
  /// The boot of the last opening, and the first opening in that boot.
  private(set) var boot: Identifier?
  private(set) var firstOfBoot: Fact?
  /// Whether there may be more openings than are kept.
  private(set) var isTooMany = false
  /// The last opening of each process, at most ``kept`` of them.
  private var openings: [Opening] = []
  /// The sequence of the last opening.
  private var lastOpening: UInt64 = 0

  private struct Opening: Hashable, Sendable {
    let opener: Opener
    let sequence: UInt64
  }

  private static let kept = 16

  /// A trail after a compaction: the processes are not known.
  static let unknown = {
    var trail = ProcessTrail()
    trail.isTooMany = true
    return trail
  }()

  mutating func open(_ opened: SessionNote.Opened, _ fact: Fact) {
    // If a boot has no name, it cannot be known whether it is another one.
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

  /// The number of processes that may be alive.
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

  /// Returns the sequence of the opening that sent a request; 0 if it is not known.
  ///
  /// If the note does not name its opening, it is the last one with the same process number.
  func opening(of sender: Opener) -> UInt64 {
    openings.last { found in
      guard let identity = sender.identity, let other = found.opener.identity else {
        return found.opener.process == sender.process
      }
      return identity.opening == other.opening
    }?.sequence ?? 0
  }

  /// Returns the last opening of a process that may be the sender; 0 if it is not known.
  func lastOpening(of sender: Opener) -> UInt64 {
    openings.last { $0.opener.mayBe(sender) }?.sequence ?? 0
  }

  /// Returns whether no other process can have had the journal open since a record.
  func wasAlone(_ sender: Opener, since sequence: UInt64) -> Bool {
    !isTooMany && lastOpening < sequence && living.allSatisfy { $0.isTaken(for: sender) }
      && isCertain(sender)
  }

  /// Returns whether the sender's opening is certain: its note names it, or only one opening has
  /// its number.
  func isCertain(_ sender: Opener) -> Bool {
    sender.identity != nil || living.count { $0.process == sender.process } <= 1
  }
}

/// The refreshes by schedule, relative to the lifetime of their token.
struct ScheduleTrail: Hashable, Sendable {
  /// The number of scheduled refreshes.
  private(set) var count: UInt64 = 0
  /// The number of them at half of the token's lifetime, or before; a timer fires slightly late.
  private(set) var early: UInt64 = 0
  /// The last of those.
  private(set) var lastEarly: Fact?
  /// The shortest and the longest lifetime of the tokens in those refreshes, in milliseconds.
  private(set) var shortestLife = Int64.max
  private(set) var longestLife: Int64 = 0

  mutating func take(_ fact: Fact, of token: TokenMetadata) {
    guard let sent = fact.requestSent, sent.kind == .refresh, sent.trigger == .schedule,
      sent.generation == token.generation, token.lifetimeMilliseconds > 0
    else { return }
    count += 1
    // With a threshold below half of the lifetime, the timer fires in the second half.
    let half = token.lifetimeMilliseconds / 2 + token.lifetimeMilliseconds / 50
    guard fact.time.milliseconds(since: token.issuedAt) <= half else { return }
    early += 1
    lastEarly = fact
    shortestLife = min(shortestLife, token.lifetimeMilliseconds)
    longestLife = max(longestLife, token.lifetimeMilliseconds)
  }
}

extension Array {
  /// Appends a value; removes the first one if there are `most` values already.
  package mutating func append(_ value: Element, keeping most: Int) {
    if count >= most { removeFirst() }
    append(value)
  }
}
