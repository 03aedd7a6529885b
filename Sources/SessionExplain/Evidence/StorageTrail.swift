@_spi(Internals) import SessionCore

/// The journal's notes about the secret store since the last login.
///
/// - Requirement: STO-5
struct StorageTrail: Hashable, Sendable {
  /// The runs of failures, each with the note of its end; at most the last ``kept``.
  private(set) var runs: [Run] = []
  /// A run of failures.
  struct Run: Hashable, Sendable {
    let fact: Fact
    let failed: SessionNote.StorageFailed
    var recovered: Fact?
  }

  static let kept = 8

  /// Whether the absence of notes proves that the store had no failure.
  ///
  /// That requires that every process since the login writes such notes, and that none may have
  /// ended before it could.
  private(set) var isWhole = false
  private var isOpeningWhole = false

  /// Records an opening; processes that had not closed the journal may have died with their notes.
  mutating func open(_ opened: SessionNote.Opened, isBesideOthers: Bool) {
    isOpeningWhole = opened.tellsOfStorage && !isBesideOthers
    isWhole = isWhole && isOpeningWhole
  }

  /// Records a gap, in which an opening or a failure may be lost.
  mutating func interrupt() { (isWhole, isOpeningWhole) = (false, false) }

  /// Starts again for a new session; failures in its own batch are kept.
  mutating func restart(keeping batch: UInt64) {
    runs.removeAll { $0.fact.batch != batch }
    isWhole = isOpeningWhole
  }

  mutating func take(_ fact: Fact) {
    switch fact.note {
    case .storageFailed(let failed)?:
      runs.append(Run(fact: fact, failed: failed), keeping: Self.kept)
    case .storageRecovered(let recovered)?:
      let index = runs.lastIndex {
        $0.failed.item == recovered.item && $0.failed.operation == recovered.operation
      }
      if let index { runs[index].recovered = fact }
    default: break
    }
  }

  /// Returns the last failure to store a token since this record.
  func lostWrite(after sequence: UInt64) -> Run? {
    runs.last {
      $0.fact.sequence >= sequence && $0.failed.isTokenWrite
    }
  }

  /// Returns the last failure since this record that has not ended, apart from missing items.
  ///
  /// The store of a later process is another one, whose failures that process notes itself.
  func lasting(since sequence: UInt64) -> Run? {
    runs.last { $0.fact.sequence >= sequence && $0.recovered == nil && $0.failed.isOfStore }
  }
}

extension SessionNote.StorageFailed {
  /// Whether the store itself did not work, so that the session can be neither used nor renewed.
  fileprivate var isOfStore: Bool {
    switch operation {
    // Without room for its response, no refresh is sent.
    case .read, .write, .reserve: break
    default: return false
    }
    return switch cause {
    case .noRoom, .refused, .failed, .unavailable, .obstructed: true
    default: false
    }
  }
}

extension SessionNote.Opened {
  /// Whether the process that wrote it notes failures of the secret store.
  ///
  /// Earlier versions had no such note, so its absence from their journals proves nothing.
  var tellsOfStorage: Bool { identity != nil }
}
