@_spi(Internals) internal import SessionCore

/// A journal over time: states, tokens and marks, with a limited number of each.
///
/// Above the limit, neighbours that are close together are merged until there are few enough,
/// because a picture has room for a few only.
struct Lanes: Sendable {
  /// A state, from the record that began it to the record that changed it.
  struct Segment: Equatable, Sendable, Shape {
    var state: SessionState.Kind
    var from: Timestamp
    var to: Timestamp
    /// The number of merged states; if it is more than 1, they were too short to be drawn
    /// separately.
    var count: UInt64 = 1
  }

  /// The lifetime of a token: from its record until it was replaced or expired, or the session
  /// ended.
  struct Token: Equatable, Sendable, Shape {
    var generation: Generation
    var from: Timestamp
    var to: Timestamp
    var end: End
    var count: UInt64 = 1

    enum End: Equatable, Sendable {
      case current
      case replaced
      case ended
      case expired
    }
  }

  /// A mark for a record; the kinds are ordered from the least to the most serious.
  struct Mark: Equatable, Sendable, Shape {
    enum Kind: Int, CaseIterable, Comparable, Sendable {
      case refresh
      case change
      case login
      /// A sign-out by the user.
      case leave
      case remark
      case failure
      case end

      static func < (left: Kind, right: Kind) -> Bool { left.rawValue < right.rawValue }
    }

    var kind: Kind
    var time: Timestamp
    var sequence: UInt64
    var count: UInt64 = 1

    var from: Timestamp { time }
    var to: Timestamp { time }
  }

  private(set) var segments: [Segment] = []
  private(set) var tokens: [Token] = []
  private(set) var marks: [Mark] = []
  private let limit: Int
  private var since: (state: SessionState.Kind, time: Timestamp)?
  private var token: (facts: TokenMetadata, from: Timestamp)?

  /// Creates lanes of at most `limit` segments, tokens and marks each; the limit is at least 8.
  init(limit: Int) {
    self.limit = max(8, limit)
  }

  /// Takes a record and the state after it.
  mutating func take(_ record: SessionRecord, _ state: SessionState) {
    let time = record.time
    if let current = since {
      if current.state != state.kind {
        close(current, at: time)
        since = (state.kind, time)
      }
    } else {
      since = (state.kind, time)
    }
    if state.token?.generation != token?.facts.generation {
      endToken(at: time, isReplaced: state.token != nil)
      token = state.token.map { ($0, time) }
    }
    if let kind = Self.kind(of: record) { mark(kind, time, record.sequence) }
  }

  /// Marks a place at which records are lost.
  mutating func interrupt(at time: Timestamp, _ sequence: UInt64) {
    mark(.failure, time, sequence)
  }

  /// Ends the lanes at the end of the journal.
  mutating func finish(at time: Timestamp) {
    if let current = since { close(current, at: time) }
    if let (facts, from) = token {
      let isOver = facts.expiresAt < time
      add(
        Token(
          generation: facts.generation, from: from, to: isOver ? max(from, facts.expiresAt) : time,
          end: isOver ? .expired : .current))
    }
    (since, token) = (nil, nil)
  }

  static func kind(of record: SessionRecord) -> Mark.Kind? {
    switch record.content {
    case .event(.login): .login
    case .event(.refreshSucceeded): .refresh
    case .event(.contextSwitched): .change
    case .event(.refreshFailed), .note(.requestEnded), .note(.answerUnused): .failure
    case .event(.logout(let logout)) where logout.reason == .user: .leave
    case .event(.sessionExpired), .event(.logout): .end
    case .note(.tailCut), .note(.itemUnreadable), .note(.secretsWiped), .note(.tokenRecovered),
      .note(.continued), .note(.clockSkew), .note(.storageFailed):
      .remark
    case .note, .snapshot, .unknown: nil
    }
  }

  private mutating func close(_ current: (state: SessionState.Kind, time: Timestamp), at: Timestamp)
  {
    segments.append(Segment(state: current.state, from: current.time, to: max(at, current.time)))
    guard segments.count > limit else { return }
    segments = Self.merged(segments, limit) { left, right in
      // The merged segment shows the worst state, because users look for that.
      let worst: SessionState.Kind =
        left.state == .expired || right.state == .expired
        ? .expired
        : left.state == .unauthenticated || right.state == .unauthenticated
          ? .unauthenticated : .authenticated
      return Segment(
        state: worst, from: left.from, to: max(left.to, right.to), count: left.count + right.count)
    }
  }

  private mutating func endToken(at time: Timestamp, isReplaced: Bool) {
    guard let (facts, from) = token else { return }
    // The token expired before it was replaced or the session ended.
    let isOver = facts.expiresAt < time
    add(
      Token(
        generation: facts.generation, from: from,
        to: max(from, isOver ? facts.expiresAt : time),
        end: isReplaced ? .replaced : isOver ? .expired : .ended))
  }

  private mutating func add(_ new: Token) {
    tokens.append(new)
    guard tokens.count > limit else { return }
    tokens = Self.merged(tokens, limit) { left, right in
      Token(
        generation: right.generation, from: left.from, to: max(left.to, right.to), end: right.end,
        count: left.count + right.count)
    }
  }

  private mutating func mark(_ kind: Mark.Kind, _ time: Timestamp, _ sequence: UInt64) {
    marks.append(Mark(kind: kind, time: time, sequence: sequence))
    guard marks.count > limit else { return }
    marks = Self.merged(marks, limit) { left, right in
      var worst = left.kind >= right.kind ? left : right
      worst.count = left.count + right.count
      return worst
    }
  }

  /// Merges elements until at most half of the limit remain, or half of the elements.
  ///
  /// It merges neighbours within a span of the whole time divided by half the limit. If that is not
  /// enough, it merges them in pairs.
  private static func merged<Element: Shape>(
    _ elements: [Element], _ limit: Int, _ merge: (Element, Element) -> Element
  ) -> [Element] {
    guard let first = elements.first else { return [] }
    let start = first.from
    let end = elements.reduce(start) { max($0, $1.to) }
    let width = max(1, end.milliseconds(since: start) / Int64(limit / 2))
    var merged = [first]
    for element in elements.dropFirst() {
      let last = merged[merged.count - 1]
      if element.to.milliseconds(since: last.from) < width {
        merged[merged.count - 1] = merge(last, element)
      } else {
        merged.append(element)
      }
    }
    guard merged.count > limit / 2 else { return merged }
    return stride(from: 0, to: merged.count, by: 2).map { index in
      index + 1 < merged.count ? merge(merged[index], merged[index + 1]) : merged[index]
    }
  }
}

/// An element with a place on a line of time.
private protocol Shape {
  var from: Timestamp { get }
  var to: Timestamp { get }
}
