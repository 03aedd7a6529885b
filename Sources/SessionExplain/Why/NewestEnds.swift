@_spi(Internals) package import SessionCore

/// A pass over all payloads of a journal that finds the place from which `why` must read.
///
/// The answer about the last end needs the newest ends, and little from before their sessions: the
/// state, the number of earlier ends, and what openings found. So this pass folds payloads, and
/// decodes only records that outlive a login. It keeps some places between batches. After the pass,
/// ``start`` is the last place from which ``WhySearch`` finds what it would find from the beginning.
///
/// Its size is bounded.
///
/// - Requirement: RPL-3
package struct NewestEnds: Sendable {
  /// A place between two batches, and what the records before it result in.
  package struct Start: Sendable {
    /// The last record before it.
    package let sequence: UInt64
    /// The place, in bytes from the beginning of the file.
    package let offset: UInt64
    fileprivate let payloads: PayloadFold
    fileprivate let trail: EvidenceFold
    /// The number of ends before it.
    fileprivate let ends: UInt64
    /// The number of ends before the first login after it; `nil` before that login.
    ///
    /// From that login on, all evidence is complete. Only an end in the login's own batch would not know
    /// the record before the batch, if the place is just before it. No answer shows that record for so
    /// old an end.
    fileprivate var endsBeforeLogin: UInt64?
  }

  /// The usual number of records between two kept places, at least.
  package static let usualSpacing: UInt64 = 1_024

  private let spacing: UInt64

  private var payloads = PayloadFold()
  /// The evidence that outlives a login.
  private var trail = EvidenceFold()
  private var ends: UInt64 = 0
  private var starts: [Start] = []
  /// The last record before the last kept place.
  private var lastKept: UInt64 = 0

  // The batch that is being read.
  private var batchStart: UInt64 = 0
  private var isInBatch = false
  private var hasEnd = false
  /// Whether a login followed the last kept place.
  private var hasLogin = false

  /// Creates a pass before the first record; places are at least `spacing` records apart.
  package init(spacing: UInt64 = Self.usualSpacing) {
    self.spacing = spacing
  }

  /// Takes the next record, whose frame ends at `offset`.
  ///
  /// `record` decodes it, and is called for few kinds. If the record cannot be folded, it throws,
  /// and no place can be trusted.
  package mutating func take(
    sequence: UInt64, kind: UInt8, payload: RawSpan, endsBatch: Bool, endingAt offset: UInt64,
    record: () throws(CodecError) -> SessionRecord
  ) throws(PayloadFold.Failure) {
    // Batches are complete, so a gap in the sequences is a watermark that ended the batch.
    if isInBatch, sequence != payloads.sequence + 1 { endBatch() }
    if !isInBatch { batchStart = sequence }
    isInBatch = true
    try payloads.apply(sequence: sequence, kind: kind, payload: payload)
    switch SessionEvent.Kind(rawValue: kind) {
    case .login: login()
    case .sessionExpired, .logout: hasEnd = true
    case .refreshSucceeded, .refreshFailed, .contextSwitched: break
    case nil:
      guard Self.outlivesLogin(kind) else { break }
      do throws(CodecError) {
        trail.takeAlone(try record(), batch: batchStart)
      } catch {
        throw .unreadable(error, sequence: sequence)
      }
    }
    guard endsBatch else { return }
    endBatch()
    keep(after: sequence, endingAt: offset)
  }

  /// The last place from which the answer is the same; `nil` if all must be read.
  package var start: Start? {
    starts.last { $0.isEarlyEnough(ends + (hasEnd ? 1 : 0)) }
  }

  /// Whether what a record of this kind says outlives a login.
  private static func outlivesLogin(_ kind: UInt8) -> Bool {
    switch SessionNote.Kind(rawValue: kind) {
    case .opened, .closed, .continued, .clockSkew: true
    case nil: kind == SessionRecord.snapshotKind
    default: false
    }
  }

  private mutating func login() {
    // The batch can have an end, and after it the login of the next session.
    if hasEnd { ends += 1 }
    (hasEnd, hasLogin) = (false, true)
    for index in starts.indices.reversed() {
      guard starts[index].endsBeforeLogin == nil else { break }
      starts[index].endsBeforeLogin = ends
    }
  }

  private mutating func endBatch() {
    isInBatch = false
    if hasEnd { ends += 1 }
    hasEnd = false
  }

  /// Keeps the place after a batch, and removes places that are earlier than needed.
  private mutating func keep(after sequence: UInt64, endingAt offset: UInt64) {
    guard hasLogin, sequence - lastKept >= spacing else { return }
    (hasLogin, lastKept) = (false, sequence)
    while starts.count > 1, starts[1].isEarlyEnough(ends) { starts.removeFirst() }
    starts.append(
      Start(sequence: sequence, offset: offset, payloads: payloads, trail: trail, ends: ends))
  }
}

extension NewestEnds.Start {
  /// Whether all ends that an answer needs come after it, with complete evidence.
  fileprivate func isEarlyEnough(_ ends: UInt64) -> Bool {
    endsBeforeLogin.map { ends - $0 >= UInt64(WhySearch.keptEnds) } ?? false
  }
}

extension WhySearch {
  /// Creates a search for the last end that continues at a place, with names as `redaction` shows
  /// them; `nil` if a newer version wrote records before it, so that all must be read.
  package init?(continuing start: NewestEnds.Start, redaction: Redaction?) throws(CodecError) {
    let fold = try start.payloads.fold()
    guard fold.snapshot != nil else { return nil }
    self.init(
      continuing: start.trail.continued(after: redaction?.fold(fold) ?? fold),
      after: start.sequence, ends: start.ends)
  }
}
