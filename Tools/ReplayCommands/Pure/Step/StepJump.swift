@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// The result of resolving a selector in a journal that is read only as far as needed.
enum StepJump: Equatable, Sendable {
  case to(UInt64)
  /// The sequence is higher than `last`, that of the last record; 0 if there is no record.
  case beyondTheEnd(last: UInt64)
  /// There are only `records` records.
  case beyondTheStart(records: UInt64)
  /// The selected record comes before the first one, or was compacted into it.
  ///
  /// The value is the first record's sequence.
  case beforeTheFirst(UInt64)
  case stopped

  /// Resolves a selector; a time or a sequence without a record means the record before.
  ///
  /// `now` is the time from which `today` is known.
  init(
    _ selector: Selector, zone: TimeZoneChoice, now: Timestamp, _ source: inout some StepSource
  ) {
    if let time = selector.moment(.atOrBefore, zone, now: now) {
      self = Self.place(at: time, &source)
      return
    }
    switch selector {
    case .sequence(let sequence):
      self = Self.place(of: sequence, &source)
    case .time, .day, .timeOfDayOn, .fromEnd, .timeOfDay, .beforeLast:
      guard case .found(let place) = source.last(), let last = source.record(at: place)?.record
      else {
        self = source.total.number == 0 ? .beyondTheEnd(last: 0) : .stopped
        return
      }
      switch selector {
      case .fromEnd(let number):
        self = number <= place + 1 ? .to(place + 1 - number) : .beyondTheStart(records: place + 1)
      case .timeOfDay(let clock):
        self = Self.place(at: zone.time(ofDay: clock, notAfter: last.time), &source)
      case .beforeLast(let span):
        self = Self.place(at: last.time.advanced(by: -span), &source)
      case .sequence, .time, .day, .timeOfDayOn:
        self = .to(place)
      }
    }
  }

  private static func place(of sequence: UInt64, _ source: inout some StepSource) -> StepJump {
    switch source.find(.sequence(from: sequence), from: 0, .forward) {
    case .stopped: return .stopped
    case .none:
      let number = source.total.number
      guard number > 0, let last = source.record(at: number - 1) else {
        return .beyondTheEnd(last: 0)
      }
      return .beyondTheEnd(last: last.record.sequence)
    case .found(let place):
      let found = source.record(at: place)?.record.sequence
      if found == sequence { return .to(place) }
      return place > 0 ? .to(place - 1) : .beforeTheFirst(found ?? 0)
    }
  }

  private static func place(at time: Timestamp, _ source: inout some StepSource) -> StepJump {
    guard case .found(let last) = source.last() else {
      return source.total.number == 0 ? .beyondTheEnd(last: 0) : .stopped
    }
    switch source.find(.time(upTo: time), from: last, .back) {
    case .found(let place): return .to(place)
    case .stopped: return .stopped
    case .none: return .beforeTheFirst(source.record(at: 0)?.record.sequence ?? 0)
    }
  }

  /// Why the selector has no record, in words; `nil` if it has one.
  var problem: String? {
    switch self {
    case .to: nil
    case .beyondTheEnd(0): "There are no records."
    case .beyondTheEnd(let last): "The last record is @\(last)."
    case .beyondTheStart(let records): "There are only \(count(records, "record"))."
    case .beforeTheFirst(let first): "That is before the first record, @\(first)."
    case .stopped: "Stopped."
    }
  }
}
