@_spi(Internals) import SessionCore

/// What the journal has of the secret store since the last sign-in.
///
/// - Requirement: STO-5
struct StorageTrail: Hashable, Sendable {
  /// Failures, each with the record of its end; the last ``kept`` of them.
  private(set) var runs: [Run] = []
  /// One run of failures.
  struct Run: Hashable, Sendable {
    let fact: Fact
    let failed: SessionNote.StorageFailed
    var recovered: Fact?
  }

  static let kept = 8

  /// Whether every process since the sign-in notes what its store does not do, and none was gone before it
  /// could say so: only then does the absence of notes prove anything.
  private(set) var isWhole = false
  private var isOpeningWhole = false

  /// A process opened the journal, while others that had not closed it may have died with their notes.
  mutating func open(_ opened: SessionNote.Opened, isBesideOthers: Bool) {
    isOpeningWhole = opened.tellsOfStorage && !isBesideOthers
    isWhole = isWhole && isOpeningWhole
  }

  /// Records are lost: one of them may be an opening, or a failure.
  mutating func interrupt() { (isWhole, isOpeningWhole) = (false, false) }

  /// A session begins; what its own batch found stays.
  mutating func restart(keeping batch: UInt64) {
    runs.removeAll { $0.fact.batch != batch }
    isWhole = isOpeningWhole
  }

  mutating func take(_ fact: Fact) {
    switch fact.note {
    case .storageFailed(let failed)?:
      if runs.count == Self.kept { runs.removeFirst() }
      runs.append(Run(fact: fact, failed: failed))
    case .storageRecovered(let recovered)?:
      let index = runs.lastIndex {
        $0.failed.item == recovered.item && $0.failed.operation == recovered.operation
      }
      if let index { runs[index].recovered = fact }
    default: break
    }
  }

  /// The last failure to store a token after this record.
  func lostWrite(after sequence: UInt64) -> Run? {
    runs.last {
      $0.fact.sequence >= sequence && $0.failed.operation == .write
        && ($0.failed.item == .token || $0.failed.item == .refreshToken)
    }
  }
}

extension SessionNote.Opened {
  /// Whether the process that wrote it notes what the secret store does not do.
  ///
  /// Earlier versions had no such note, so its absence from their journals proves nothing.
  var tellsOfStorage: Bool { identity != nil }
}
