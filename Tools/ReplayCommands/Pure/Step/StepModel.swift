@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// An effect of a key on the terminal, in addition to drawing.
enum StepEffect: Equatable, Sendable {
  case leave
  /// Leave as Ctrl-C does.
  case interrupt
  case suspend
  /// Draw the whole screen again.
  case redraw
  /// The key has nowhere to go.
  case bell
}

/// The debugger without its terminal: the state of the screen, and the effects of keys.
struct StepModel: Equatable, Sendable {
  enum Mode: Equatable, Sendable {
    case browse
    case prompt(StepPrompt)
    case page(StepPage)
  }

  /// The last search.
  struct Search: Equatable, Sendable {
    let text: String
    let direction: StepDirection
  }

  struct Message: Equatable, Sendable {
    let text: String
    var role = ScreenRole.plain
  }

  /// The journal's name in printable characters.
  let name: String
  /// The kinds at which `n` stops; `nil` for events.
  let kinds: KindFilter?
  let isColored: Bool
  var size: ScreenSize

  /// The place of the record under the cursor, from 0.
  private(set) var cursor: UInt64 = 0
  private(set) var mode = Mode.browse
  /// The place of the record whose state is compared with the cursor's; `nil` for the one before.
  private(set) var mark: UInt64?
  private(set) var zone: TimeZoneChoice
  /// The time from which `today` is known.
  private let now: Timestamp
  private(set) var search: Search?
  /// The message that is shown until the next key.
  var message: Message?

  init(
    name: String, zone: TimeZoneChoice = .utc, now: Timestamp = Timestamp(milliseconds: 0),
    kinds: KindFilter? = nil, isColored: Bool = true,
    size: ScreenSize = ScreenSize(rows: 24, columns: 80)
  ) {
    self.name = name.printable
    self.kinds = kinds
    self.isColored = isColored
    self.size = size
    self.zone = zone
    self.now = now
  }

  /// Goes to the first record to show: the last end of a session, or the last record if there is no
  /// end.
  ///
  /// If the search for the end of the journal is stopped, the cursor stays. If the search for the
  /// end of a session is stopped, it goes to the last record.
  mutating func begin(_ source: inout some StepSource) {
    guard case .found(let last) = source.last() else { return }
    if case .found(let end) = source.find(.end, from: last, .back) {
      cursor = end
    } else {
      cursor = last
    }
  }

  /// Goes to the record that a selector means; returns why if there is none.
  mutating func go(to selector: Selector, _ source: inout some StepSource) -> StepJump {
    let jump = StepJump(selector, zone: zone, now: now, &source)
    if case .to(let place) = jump { cursor = place }
    return jump
  }

  /// Handles a key; returns its effect on the terminal, if any.
  mutating func handle(_ key: StepKey, _ source: inout some StepSource) -> StepEffect? {
    message = nil
    // These keys work on every screen.
    switch StepAction(key) {
    case .interrupt: return .interrupt
    case .suspend: return .suspend
    case .redraw: return .redraw
    default: break
    }
    switch mode {
    case .browse:
      guard let action = StepAction(key) else { return nil }
      return act(action, &source)
    case .prompt(var prompt):
      switch prompt.handle(key) {
      case nil: mode = .prompt(prompt)
      case .cancelled: mode = .browse
      case .entered(let text):
        mode = .browse
        return enter(text, prompt.kind, &source)
      }
      return nil
    case .page(var page):
      let isOpen = page.handle(key, rows: size.rows - 2, columns: size.columns)
      mode = isOpen ? .page(page) : .browse
      return nil
    }
  }

  private mutating func act(_ action: StepAction, _ source: inout some StepSource) -> StepEffect? {
    switch action {
    case .next: return move(by: 1, &source)
    case .previous: return move(by: -1, &source)
    case .pageDown: return move(by: listHeight, &source)
    case .pageUp: return move(by: -listHeight, &source)
    case .nextEvent: return find(eventMatch, .forward, &source)
    case .previousEvent: return find(eventMatch, .back, &source)
    case .nextEnd: return find(.end, .forward, &source)
    case .previousEnd: return find(.end, .back, &source)
    case .nextOfToken: return findToken(.forward, &source)
    case .previousOfToken: return findToken(.back, &source)
    case .otherEnd: return findOtherEnd(&source)
    case .first: return go(to: 0)
    case .last: return take(source.last(), &source)
    case .goTo: mode = .prompt(StepPrompt(kind: .selector))
    case .searchForward: mode = .prompt(StepPrompt(kind: .search(.forward)))
    case .searchBack: mode = .prompt(StepPrompt(kind: .search(.back)))
    case .mark: toggleMark(&source)
    case .why: return explain(&source)
    case .record:
      guard let entry = source.record(at: cursor) else { return .bell }
      mode = .page(StepPage(record: entry))
    case .zone: zone = zone == .utc ? .local : .utc
    case .help: mode = .page(.help)
    case .leave: return .leave
    case .interrupt: return .interrupt
    case .suspend: return .suspend
    case .redraw: return .redraw
    }
    return nil
  }

  private var eventMatch: StepMatch { kinds.map(StepMatch.kinds) ?? .event }

  private mutating func move(by step: Int, _ source: inout some StepSource) -> StepEffect? {
    guard step > 0 else {
      let back = UInt64(step.magnitude)
      return go(to: back > cursor ? 0 : cursor - back)
    }
    let target = cursor + UInt64(step)
    if source.record(at: target) != nil { return go(to: target) }
    // The journal is read to its end. The next check for growth finds what was written since.
    _ = source.last()
    if source.record(at: target) != nil { return go(to: target) }
    let number = source.total.number
    return go(to: number == 0 ? 0 : number - 1)
  }

  private mutating func go(to place: UInt64) -> StepEffect? {
    guard place != cursor else { return .bell }
    cursor = place
    return nil
  }

  private mutating func toggleMark(_ source: inout some StepSource) {
    guard mark == nil else {
      mark = nil
      message = Message(text: "The state is compared with the record before.")
      return
    }
    guard let entry = source.record(at: cursor) else { return }
    mark = cursor
    message = Message(text: "The state is compared with @\(entry.record.sequence) from here on.")
  }

  private mutating func explain(_ source: inout some StepSource) -> StepEffect? {
    guard let entry = source.record(at: cursor) else { return .bell }
    guard let explanation = source.explanation(at: cursor) else { return take(.stopped, &source) }
    let lines = WhyText(zone: zone.display, isFull: true).lines(explanation)
    mode = .page(StepPage(title: "why, at @\(entry.record.sequence)", lines: lines))
    return nil
  }

  private mutating func findToken(_ direction: StepDirection, _ source: inout some StepSource)
    -> StepEffect?
  {
    let named = source.record(at: cursor)?.record.generation
    let generation = named ?? source.fold(before: cursor + 1).generation
    guard generation != .none else {
      message = Message(text: "No token is known here.", role: .warn)
      return .bell
    }
    return find(.token(generation), direction, &source)
  }

  private mutating func findOtherEnd(_ source: inout some StepSource) -> StepEffect? {
    guard let record = source.record(at: cursor)?.record else { return .bell }
    if record.isRequest { return find(.answer(to: record.sequence), .forward, &source) }
    guard let request = record.answeredRequest else {
      message = Message(text: "This is no request and answers none.", role: .warn)
      return .bell
    }
    let jump = StepJump(.sequence(request), zone: zone, now: now, &source)
    guard case .to(let place) = jump, source.record(at: place)?.record.sequence == request else {
      message = Message(text: "@\(request) is no longer in this journal.", role: .warn)
      return .bell
    }
    return go(to: place)
  }

  /// Goes to the nearest matching record before or after the cursor.
  private mutating func find(
    _ match: StepMatch, _ direction: StepDirection, _ source: inout some StepSource
  ) -> StepEffect? {
    guard direction == .forward || cursor > 0 else { return missing(match, direction) }
    let start = direction == .forward ? cursor + 1 : cursor - 1
    let finding = source.find(match, from: start, direction)
    return finding == .none ? missing(match, direction) : take(finding, &source)
  }

  /// Goes to the nearest record with a text; after the last record, the search goes on from the
  /// first, and says so.
  private mutating func look(
    for text: String, _ direction: StepDirection, _ source: inout some StepSource
  ) -> StepEffect? {
    let match = StepMatch.text(text)
    if direction == .forward || cursor > 0 {
      let start = direction == .forward ? cursor + 1 : cursor - 1
      let finding = source.find(match, from: start, direction)
      guard finding == .none else { return take(finding, &source) }
    }
    var start: UInt64 = 0
    if direction == .back {
      guard case .found(let last) = source.last() else { return take(.stopped, &source) }
      start = last
    }
    let finding = source.find(match, from: start, direction)
    guard case .found(let place) = finding else {
      return finding == .none ? missing(match, direction) : take(finding, &source)
    }
    guard place != cursor else {
      message = Message(text: "'\(text.printable)' is in no other record.", role: .warn)
      return .bell
    }
    cursor = place
    message = Message(
      text: direction == .forward
        ? "The search went on from the first record." : "The search went on from the last record.",
      role: .warn)
    return nil
  }

  private mutating func missing(_ match: StepMatch, _ direction: StepDirection) -> StepEffect {
    let side = direction == .forward ? "after" : "before"
    let what =
      switch match {
      case .event: "No event \(side) this record."
      case .end: "No end of a session \(side) this record."
      case .kinds: "None of those kinds \(side) this record."
      case .token(let generation): "Nothing more about \(generation) \(side) this record."
      case .answer: "No answer to this request is in the journal."
      case .sequence, .time: "No such record."
      case .text(let text): "'\(text.printable)' is in no record."
      }
    message = Message(text: what, role: .warn)
    return .bell
  }

  private mutating func take(_ finding: StepFinding, _ source: inout some StepSource) -> StepEffect?
  {
    switch finding {
    case .found(let place): return go(to: place)
    case .none: return .bell
    case .stopped:
      message = Message(text: "Stopped; \(source.total.text) records are read.", role: .warn)
      return nil
    }
  }

  private mutating func enter(
    _ text: String, _ kind: StepPrompt.Kind, _ source: inout some StepSource
  )
    -> StepEffect?
  {
    switch kind {
    case .search(let direction):
      if !text.isEmpty { search = Search(text: text.lowercased(), direction: direction) }
      guard let search else { return nil }
      return look(for: search.text, direction, &source)
    case .selector:
      guard !text.isEmpty else { return nil }
      guard let selector = Selector(text) else {
        let near = Selector.nearest(to: text).map { "try \($0)" }
        message = Message(
          text: "'\(text.printable)' is no selector: \(near ?? "412, @-1, 14:02, today, -3h").",
          role: .warn)
        return .bell
      }
      let before = cursor
      guard let problem = go(to: selector, &source).problem else {
        return cursor == before ? .bell : nil
      }
      message = Message(text: problem, role: .warn)
      return .bell
    }
  }
}
