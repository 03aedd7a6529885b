@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// How many records there are.
enum StepTotal: Equatable, Sendable {
  /// Not all was read.
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

/// What a search came to.
enum StepFinding: Equatable, Sendable {
  /// The record's place, from 0.
  case found(UInt64)
  case none
  /// Somebody stopped it.
  case stopped
}

enum StepDirection: Sendable {
  case forward
  case back
}

/// A journal's records by their places, from 0, with what they add up to.
///
/// Nothing is read before it is asked for.
protocol StepSource {
  /// How many records are known.
  var total: StepTotal { get }

  /// Why there is no record behind the last, as far as that is known; `nil` at a clean end.
  var fault: String? { get }

  /// The record at a place; `nil` behind the last.
  mutating func record(at place: UInt64) -> JournalEntry?

  /// What the records before a place add up to.
  mutating func fold(before place: UInt64) -> SessionFold

  /// The nearest record that matches, from `place` on, itself included.
  mutating func find(_ match: StepMatch, from place: UInt64, _ direction: StepDirection)
    -> StepFinding

  /// The last record; reads all that was not read.
  mutating func last() -> StepFinding

  /// What `why --at` says of the record; `nil` where somebody stopped it, or there is no record.
  mutating func explanation(at place: UInt64) -> Explanation?
}

/// Which record is looked for.
enum StepMatch: Equatable, Sendable {
  /// One that has an effect on the state.
  case event
  /// An expiry or a logout.
  case end
  case kinds(KindFilter)
  /// One that is about this token.
  case token(Generation)
  /// What ended the request with this sequence.
  case answer(to: UInt64)
  /// The first with this sequence or a later one.
  case sequence(from: UInt64)
  case time(upTo: Timestamp)
  /// One whose words hold this text, which is lower case.
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

  /// Whether a run of records may have one that matches, by what is known of the run.
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

/// What is known of a run of records without reading them again.
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
