@_spi(Internals) package import SessionCore

/// A pass over all frames of a journal that finds the place from which `why` must read.
///
/// The answer about the last end needs the newest ends, and little from before their sessions: the
/// number of earlier ends, revocations that are pending, and what openings found. So this pass looks
/// at the kinds of records, and decodes only those that outlive a login. It keeps some places at
/// logins. After the pass, ``start`` is the last place from which ``WhySearch`` finds what it would
/// find from the beginning, unless an earlier record cannot be decoded.
///
/// Its size is bounded.
///
/// - Requirement: RPL-3
package struct NewestEnds: Sendable {
  /// A place before a login that begins a batch, and what the records before it result in.
  package struct Start: Sendable {
    /// The last record before it.
    package let sequence: UInt64
    /// The place, in bytes from the beginning of the file.
    package let offset: UInt64
    fileprivate var outliving: Outliving
    /// The number of ends before it.
    fileprivate var ends: UInt64
    /// The number of batches before it.
    fileprivate let batches: UInt64
    /// The number of records that were left for later before it.
    fileprivate let left: Int
    /// The number of ends before the first login from which all evidence is complete.
    fileprivate var endsBeforeLogin: UInt64?
  }

  /// The usual number of records between two kept places, at least.
  package static let usualSpacing: UInt64 = 1_024
  /// The most records that are left for later.
  package static let mostLeft = 65_536

  private let spacing: UInt64
  /// What this version knows of each kind.
  private let kinds = (UInt8.min...UInt8.max).map(KnownKind.init)
  private var outliving = Outliving()
  /// The records that are left for later; `nil` if each is decoded at once.
  private var left: [(offset: UInt64, batch: UInt64)]?

  private var state = SessionState.Kind.unauthenticated
  private var last: UInt64 = 0
  private var ends: UInt64 = 0
  private var starts: [Start] = []
  /// The last record before the last kept place.
  private var lastKept: UInt64 = 0

  // The batch that is being read.
  private var batches: UInt64 = 0
  private var batchStart: UInt64 = 0
  private var isInBatch = false
  private var hasEnd = false
  /// Whether the last expiry was read, and is not only in a snapshot.
  private var hasExpiry = false

  /// Creates a pass before the first record; places are at least `spacing` records apart.
  ///
  /// A pass that begins later, at the first login of a batch, leaves records for later that outlive
  /// a login. It is the `later` one in ``start(before:record:)``.
  package init(spacing: UInt64 = Self.usualSpacing, beginsLater: Bool = false) {
    self.spacing = spacing
    if beginsLater { left = [] }
  }

  /// Takes the next record, whose frame is at `offset`; returns whether the pass can be trusted.
  ///
  /// It cannot be trusted after a record of a newer version, or one that is impossible in the state
  /// before it. `record` decodes the record, and is called for few kinds.
  @inline(__always)
  package mutating func take(
    sequence: UInt64, kind: UInt8, payload: RawSpan, endsBatch: Bool, at offset: UInt64,
    record: () throws(CodecError) -> SessionRecord
  ) -> Bool {
    // Batches are complete, so a gap in the sequences is a watermark that ended the batch.
    if isInBatch, sequence != last + 1 { endBatch() }
    if !isInBatch { (batchStart, batches) = (sequence, batches + 1) }
    let known = kinds[Int(kind)]
    guard payload.byteCount > Self.versionPlace else { return false }
    let version = payload.unsafeLoad(fromByteOffset: Self.versionPlace, as: UInt8.self)
    guard version > 0, version <= known.version else { return false }
    switch known.role {
    case .passes: break
    case .needsUser:
      guard state == .authenticated else { return false }
    case .login:
      guard state != .authenticated else { return false }
      login(at: offset)
      state = .authenticated
    case .expiry:
      guard state == .authenticated else { return false }
      (hasEnd, state, hasExpiry) = (true, .expired, true)
    case .logout:
      guard state != .unauthenticated else { return false }
      // A logout after an expiry that was read ends nothing.
      hasEnd = hasEnd || state == .authenticated || !hasExpiry
      state = .unauthenticated
    case .outlives:
      guard takeOutliving(at: offset, record) else { return false }
    }
    last = sequence
    isInBatch = !endsBatch
    if endsBatch { endBatch() }
    return true
  }

  /// The place of the version in a payload, after the time.
  private static let versionPlace = 8

  /// The last place from which the answer is the same; `nil` if all must be read.
  package var start: Start? { starts.last { $0.isEarlyEnough(allEnds) } }

  /// Whether a login is possible next; a later pass begins with one.
  package var allowsLogin: Bool { state != .authenticated }

  /// The number of ends so far.
  private var allEnds: UInt64 { ends + (hasEnd ? 1 : 0) }

  /// The last place if `later` is the pass over all records that follow; `nil` if all must be read.
  ///
  /// `record` returns a record that the later pass left.
  package func start<Failure>(
    before later: NewestEnds, record: (_ offset: UInt64) throws(Failure) -> SessionRecord?
  ) throws(Failure) -> (place: Start, isLater: Bool)? {
    guard var start = later.start else { return start(before: later).map { ($0, false) } }
    var outliving = outliving
    for place in later.left?[..<start.left] ?? [] {
      guard let record = try record(place.offset), outliving.take(record, batch: place.batch) else {
        return nil
      }
    }
    start.outliving = outliving
    start.ends += allEnds
    return (start, true)
  }

  /// The last place in this pass if it has as many ends after it as the answer needs.
  private func start(before later: NewestEnds) -> Start? {
    var starts = starts
    // The later pass begins with a login.
    for index in starts.indices where starts[index].endsBeforeLogin == nil {
      if batches > starts[index].batches { starts[index].endsBeforeLogin = allEnds }
    }
    return starts.last { $0.isEarlyEnough(allEnds + later.allEnds) }
  }

  private mutating func takeOutliving(
    at offset: UInt64, _ record: () throws(CodecError) -> SessionRecord
  ) -> Bool {
    if let count = left?.count {
      guard count < Self.mostLeft else { return false }
      left?.append((offset, batchStart))
      return true
    }
    do throws(CodecError) {
      let record = try record()
      if case .snapshot(let fold) = record.content {
        (state, hasExpiry) = (fold.state.kind, false)
      }
      return outliving.take(record, batch: batchStart)
    } catch {
      return false
    }
  }

  private mutating func login(at offset: UInt64) {
    // The batch can have an end, and after it the login of the next session.
    if hasEnd { ends += 1 }
    hasEnd = false
    for index in starts.indices.reversed() {
      guard starts[index].endsBeforeLogin == nil else { break }
      // In the first batch after a place, the record before the batch is not known.
      if batches > starts[index].batches + 1 { starts[index].endsBeforeLogin = ends }
    }
    if !isInBatch { keep(at: offset) }
  }

  private mutating func endBatch() {
    isInBatch = false
    if hasEnd { ends += 1 }
    hasEnd = false
  }

  /// Keeps the place before a login, and removes places that are earlier than needed.
  private mutating func keep(at offset: UInt64) {
    guard last - lastKept >= spacing else { return }
    lastKept = last
    while starts.count > 1, starts[1].isEarlyEnough(ends) { starts.removeFirst() }
    starts.append(
      Start(
        sequence: last, offset: offset, outliving: outliving, ends: ends, batches: batches - 1,
        left: left?.count ?? 0))
  }
}

extension NewestEnds.Start {
  /// Whether all ends that an answer needs come after it, with complete evidence.
  fileprivate func isEarlyEnough(_ ends: UInt64) -> Bool {
    endsBeforeLogin.map { ends - $0 >= UInt64(WhySearch.keptEnds) } ?? false
  }
}

/// What a pass must know of a kind.
private struct KnownKind: Sendable {
  enum Role: Sendable {
    case login
    case expiry
    case logout
    /// An event that is possible only while a user is logged in.
    case needsUser
    case outlives
    case passes
  }

  let role: Role
  /// The highest known version; 0 for an unknown kind.
  let version: UInt8

  init(_ kind: UInt8) {
    version = SessionCodec.version(ofKind: kind) ?? 0
    role =
      switch SessionEvent.Kind(rawValue: kind) {
      case .login: .login
      case .sessionExpired: .expiry
      case .logout: .logout
      case .refreshSucceeded, .refreshFailed, .contextSwitched: .needsUser
      case nil: Outliving.includes(kind) ? .outlives : .passes
      }
  }
}

/// What records say that outlives a login.
private struct Outliving: Sendable {
  private(set) var trail = EvidenceFold()
  private(set) var revocations: [Generation] = []

  /// Whether a record of this kind is needed.
  static func includes(_ kind: UInt8) -> Bool {
    switch SessionNote.Kind(rawValue: kind) {
    case .opened, .closed, .continued, .clockSkew: true
    case .revocationPending, .revocationSettled: true
    case nil: kind == SessionRecord.snapshotKind
    default: false
    }
  }

  /// Takes the record; returns `false` if it cannot be folded.
  mutating func take(_ record: SessionRecord, batch: UInt64) -> Bool {
    switch record.content {
    case .note(.revocationPending), .note(.revocationSettled):
      var fold = self.fold(after: record.sequence - 1)
      do throws(SessionFold.Failure) {
        try fold.apply(record)
      } catch {
        return false
      }
      revocations = fold.intents.revocations
      return true
    case .snapshot(let fold):
      revocations = fold.intents.revocations
    case .note: break
    case .event, .unknown: return false
    }
    trail.takeAlone(record, batch: batch)
    return true
  }

  /// The fold from which a login continues after these records.
  func fold(after sequence: UInt64) -> SessionFold {
    SessionFold(
      state: .unauthenticated, generation: .none, sequence: sequence, eventSequence: 0,
      intents: OpenIntents(request: nil, revocations: revocations))
  }
}

extension WhySearch {
  /// Creates a search for the last end that continues at a place, with names as `redaction` shows
  /// them.
  package init(continuing start: NewestEnds.Start, redaction: Redaction?) {
    let fold = start.outliving.fold(after: start.sequence)
    self.init(
      continuing: start.outliving.trail.continued(after: redaction?.fold(fold) ?? fold),
      after: start.sequence, ends: start.ends)
  }
}
