@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// Chooses the journals that a page draws.
enum ReportChoice {
  /// Returns at most `limit` journals, in their order.
  ///
  /// Each cause gets its newest end in turn, then its second newest, until there are enough
  /// journals. So a rare cause has a journal on the page as well. Journals in which nothing ended
  /// come last, the newest first.
  static func chosen(_ journals: [ReportJournal], upTo limit: Int) -> [ReportJournal] {
    guard journals.count > limit else { return journals }
    var ends: [Cause: [(time: Timestamp, journal: Int)]] = [:]
    for (index, journal) in journals.enumerated() {
      for why in journal.whys where why.cause.class == .end {
        ends[why.cause, default: []].append((why.time ?? Self.never, index))
      }
    }
    var places = journals.map { Place(turn: .max, time: $0.last ?? Self.never) }
    for list in ends.values {
      let newest = list.sorted { left, right in
        left.time == right.time ? left.journal < right.journal : left.time > right.time
      }
      for (turn, end) in newest.enumerated() {
        let place = Place(turn: turn, time: end.time)
        if place.comesBefore(places[end.journal]) { places[end.journal] = place }
      }
    }
    let order = journals.indices.sorted { left, right in
      places[left] == places[right] ? left < right : places[left].comesBefore(places[right])
    }
    return order.prefix(limit).sorted().map { journals[$0] }
  }

  private static let never = Timestamp(milliseconds: .min)

  private struct Place: Equatable {
    var turn: Int
    var time: Timestamp

    func comesBefore(_ other: Place) -> Bool {
      turn == other.turn ? time > other.time : turn < other.turn
    }
  }
}
