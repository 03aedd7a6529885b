@_spi(Internals) import SessionCore

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

  package let subject: Subject
  /// The records of the subject's own batch; if there are too many, the least important are
  /// omitted.
  let batch: [Fact]
  /// The last record before the batch.
  let lastBefore: Fact?
  /// The state before the batch's first end.
  let before: SessionState.Kind
  private let past: Past
  /// The records that follow: at most ``keptBehind``, up to the next login.
  var aftermath: [Fact] = []
  /// The gaps in this session after the subject.
  var gapsAfter: [EvidenceGap] = []
  /// The offset of acknowledged, unusable bytes at which reading ended; `nil` if there are none.
  var damagedAt: UInt64?
  /// The expiry after which a logout came.
  var root: [Evidence] = []

  static let keptBehind = 16

  // Evidence is copied for each end, and a trail is large.
  private final class Past: Sendable {
    let trail: SessionTrail
    init(_ trail: SessionTrail) { self.trail = trail }
  }

  /// Creates the evidence of a subject whose batch was read to its end.
  init(
    _ subject: Subject, of trail: SessionTrail, in batch: BatchTrail,
    before: SessionState.Kind = .unauthenticated
  ) {
    (self.subject, self.batch, lastBefore) = (subject, batch.records, batch.before)
    self.before = before
    past = Past(trail)
  }

  /// What the records up to the end of the batch show.
  var trail: SessionTrail { past.trail }

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
  var settlesExpiry: Bool {
    root.first.map { $0.trail.losses.gaps == trail.losses.gaps } ?? false
  }

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
    (self.after, self.offset, self.bytes) = (after, offset, bytes)
    (self.sequences, self.isLeftOut) = (sequences, isLeftOut)
  }

  /// Creates the gap of a record that cannot be decoded; without `bytes`, of one that is left out.
  package init(
    of sequence: UInt64, at offset: UInt64, bytes: UInt64? = nil, after last: UInt64
  ) {
    self.init(
      after: last, offset: offset, bytes: bytes ?? 0, sequences: sequence...sequence,
      isLeftOut: bytes == nil)
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
    openings.append(Opening(opener: opener, sequence: fact.sequence), keeping: Self.kept)
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
