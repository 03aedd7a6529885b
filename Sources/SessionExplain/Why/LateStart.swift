@_spi(Internals) package import SessionCore

/// A pass over a journal that finds the login from which `why` of the last end reads records.
///
/// To make a record of each payload takes nine tenths of the time that `why` of a long journal needs, and
/// its answer is about the newest sessions. Of earlier ones it has the number of ends, and what
/// outlives a login: openings, closings, and what a clock did. So this pass folds payloads, as `stats`
/// does, and decodes only the records that outlive a login. If it cannot fold one, all records are read.
///
/// Its size is bounded: it holds a few places.
///
/// - Requirement: RPL-3
package struct LateStart: Sendable {
  /// A place before a login that begins a batch, and what the records before it result in.
  package struct Place: Sendable {
    /// The last record before it.
    package let sequence: UInt64
    /// The place, in bytes from the beginning of the file.
    package let offset: UInt64
    fileprivate let fold: SessionFold
    fileprivate let trail: SessionTrail
    /// The number of ends before it.
    fileprivate let ends: UInt64
    /// The number of batches before it.
    fileprivate let batches: UInt64
    /// The number of logins after it of which all evidence is complete.
    fileprivate var logins = 0

    /// Whether all ends that an answer needs come after it, each with its evidence.
    fileprivate var isEarlyEnough: Bool { logins > WhySearch.keptEnds }
  }

  /// The usual number of records between two places, at least.
  package static let usualSpacing: UInt64 = 1_024

  private let spacing: UInt64
  private var payloads = PayloadFold()
  private var trail = SessionTrail()
  private var ends: UInt64 = 0
  private var places: [Place] = []

  // The batch that is being read.
  private var batches: UInt64 = 0
  private var batchStart: UInt64 = 0
  private var isInBatch = false
  private var hasEnd = false
  /// Whether the last expiry was read, and is not only in a snapshot.
  private var hasExpiry = false

  /// Creates a pass before the first record; places are at least `spacing` records apart.
  package init(spacing: UInt64 = Self.usualSpacing) { self.spacing = spacing }

  /// The last place from which the answer is the same; `nil` if all records must be read.
  package var place: Place? { places.last(where: \.isEarlyEnough) }

  /// Takes the next record, whose frame is at `offset`; returns whether the pass can be trusted.
  ///
  /// It cannot be trusted after a record of a newer version, or one that cannot be folded. `record`
  /// decodes the record; it is called for few kinds.
  package mutating func take(
    sequence: UInt64, kind: UInt8, payload: RawSpan, endsBatch: Bool, at offset: UInt64,
    record: () throws(CodecError) -> SessionRecord
  ) -> Bool {
    // Batches are complete, so a gap in the sequences is a watermark that ended the batch.
    if isInBatch, sequence != payloads.sequence + 1 { endBatch() }
    if !isInBatch { (batchStart, batches) = (sequence, batches + 1) }
    guard let version = SessionCodec.version(ofKind: kind),
      payload.byteCount > Self.versionPlace,
      payload.unsafeLoad(fromByteOffset: Self.versionPlace, as: UInt8.self) <= version
    else { return false }
    do {
      if kind == SessionEvent.Kind.login.rawValue { try login(at: offset) }
      let step = try payloads.step(sequence: sequence, kind: kind, payload: payload)
      switch step.outline {
      case .sessionExpired: (hasEnd, hasExpiry) = (true, true)
      // A logout after an expiry that was read ends nothing.
      case .logout: hasEnd = hasEnd || step.before == .authenticated || !hasExpiry
      case .snapshot: hasExpiry = false
      default: break
      }
      if Self.outlivesLogin(kind) { trail.takeAlone(try record(), batch: batchStart) }
    } catch {
      return false
    }
    isInBatch = !endsBatch
    if endsBatch { endBatch() }
    return true
  }

  /// The place of the version in a payload, after the time.
  private static let versionPlace = 8

  /// Whether evidence about a later session needs a record of this kind.
  private static func outlivesLogin(_ kind: UInt8) -> Bool {
    switch SessionNote.Kind(rawValue: kind) {
    case .opened, .closed, .continued, .clockSkew: true
    case nil: kind == SessionRecord.snapshotKind
    default: false
    }
  }

  private mutating func login(at offset: UInt64) throws(CodecError) {
    // The batch can have an end, and after it the login of the next session.
    endSession()
    for index in places.indices where batches > places[index].batches + 1 {
      // In the first batch after a place, the record before the batch is not known.
      places[index].logins += 1
    }
    guard !isInBatch, payloads.sequence - (places.last?.sequence ?? 0) >= spacing else { return }
    while places.count > 1, places[1].isEarlyEnough { places.removeFirst() }
    places.append(
      Place(
        sequence: payloads.sequence, offset: offset, fold: try payloads.fold(), trail: trail,
        ends: ends, batches: batches - 1))
  }

  private mutating func endBatch() {
    isInBatch = false
    endSession()
  }

  private mutating func endSession() {
    if hasEnd { ends += 1 }
    hasEnd = false
  }
}

extension WhySearch {
  /// Creates a search for the last end that continues at a place, with names as `redaction` shows
  /// them.
  package init(continuing place: LateStart.Place, redaction: Redaction?) {
    var trail = place.trail
    trail.fold = redaction?.fold(place.fold) ?? place.fold
    self.init(
      continuing: EvidenceFold(continuing: trail), after: place.sequence, ends: place.ends)
  }
}
