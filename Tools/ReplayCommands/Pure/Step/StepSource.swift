@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// The number of records, as far as it is known.
enum StepTotal: Equatable, Sendable {
  /// The journal was not read to its end.
  case atLeast(UInt64)
  case exactly(UInt64)

  var number: UInt64 {
    switch self {
    case .atLeast(let number), .exactly(let number): number
    }
  }

  /// `1,024`, `1,024+`.
  var text: String {
    switch self {
    case .atLeast(let number): "\(number.grouped)+"
    case .exactly(let number): number.grouped
    }
  }
}

/// The result of a search.
enum StepFinding: Equatable, Sendable {
  /// The record's place, from 0.
  case found(UInt64)
  case none
  /// The user stopped the search.
  case stopped
}

enum StepDirection: Sendable {
  case forward
  case back
}

/// The records of a journal by their places, from 0, and the states between them.
///
/// Nothing is read before it is needed.
protocol StepSource {
  /// The number of known records.
  var total: StepTotal { get }

  /// Why no record follows the last one, as far as that is known; `nil` at a clean end.
  var fault: String? { get }

  /// Returns the record at a place; `nil` after the last.
  mutating func record(at place: UInt64) -> JournalEntry?

  /// Returns the fold of the records before a place.
  mutating func fold(before place: UInt64) -> SessionFold

  /// Finds the nearest matching record, beginning with the one at `place`.
  mutating func find(_ match: StepMatch, from place: UInt64, _ direction: StepDirection)
    -> StepFinding

  /// Finds the last record; reads the rest of the journal first.
  mutating func last() -> StepFinding

  /// Returns the answer of `why --at` for a record.
  ///
  /// Returns `nil` if the user stopped it, or there is no record.
  mutating func explanation(at place: UInt64) -> Explanation?
}

/// The condition of a search for a record.
enum StepMatch: Equatable, Sendable {
  /// The record is an event.
  case event
  /// An expiry or a logout.
  case end
  case kinds(KindFilter)
  /// The record is about this token.
  case token(Generation)
  /// The record ended the request with this sequence.
  case answer(to: UInt64)
  /// The record has this sequence or a higher one.
  case sequence(from: UInt64)
  case time(upTo: Timestamp)
  /// The record's text contains this text, which is in lower case.
  case text(String)

  func matches(_ record: SessionRecord) -> Bool {
    switch self {
    case .event: record.event != nil
    case .end: record.isEnd
    case .kinds(let filter): filter.includes(record.content)
    case .token(let generation): record.generation == generation
    case .answer(let request): record.answeredRequest == request
    case .sequence(let sequence): record.sequence >= sequence
    case .time(let time): record.time <= time
    case .text(let text): record.searchText.contains(text)
    }
  }

  /// Returns whether a run of records may have a match, by what is known of the run.
  func mayMatch(in run: StepRun) -> Bool {
    switch self {
    case .event: run.has { SessionEvent.Kind(rawValue: $0) != nil }
    case .end:
      run.has {
        $0 == SessionEvent.Kind.sessionExpired.rawValue || $0 == SessionEvent.Kind.logout.rawValue
      }
    case .sequence(let sequence): run.lastSequence >= sequence
    case .time(let time): run.earliest <= time
    case .kinds, .token, .answer, .text: true
    }
  }
}

/// The known properties of a run of records, so that a search can skip it.
struct StepRun: Sendable {
  private var kinds: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
  private(set) var lastSequence: UInt64 = 0
  private(set) var earliest = Timestamp(milliseconds: .max)

  mutating func add(sequence: UInt64, kind: UInt8, time: Timestamp) {
    let bit = UInt64(1) << UInt64(kind & 63)
    switch kind >> 6 {
    case 0: kinds.0 |= bit
    case 1: kinds.1 |= bit
    case 2: kinds.2 |= bit
    default: kinds.3 |= bit
    }
    lastSequence = sequence
    earliest = min(earliest, time)
  }

  func has(_ isMeant: (UInt8) -> Bool) -> Bool {
    for (number, bits) in [kinds.0, kinds.1, kinds.2, kinds.3].enumerated() {
      var rest = bits
      while rest != 0 {
        if isMeant(UInt8(number * 64 + rest.trailingZeroBitCount)) { return true }
        rest &= rest - 1
      }
    }
    return false
  }
}
