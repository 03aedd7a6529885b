@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJSON

/// Records as events of Chrome's trace format, which Perfetto shows.
///
/// Each event is one line (Specs/ReplayFiles.md, "Trace").
struct TraceLines: ExportPicture {
  /// The row in which an event is shown.
  private enum Lane: Int, CaseIterable {
    case state = 1
    case tokens = 2
    case requests = 3
    case notes = 4

    var name: String {
      switch self {
      case .state: "state and events"
      case .tokens: "tokens"
      case .requests: "requests"
      case .notes: "notes"
      }
    }
  }

  private let journal: String
  /// The time of the first record.
  ///
  /// Microseconds since 1970 would not always be exact as JSON numbers.
  private var start: Timestamp?
  /// The latest time that was written, in microseconds after the start.
  private var last: Int64 = 0
  private var state = SessionState.Kind.unauthenticated
  private var token = Generation.none
  private var request: OpenIntents.Request?

  init(journal: String) {
    self.journal = journal
  }

  mutating func begin(_ fold: SessionFold) -> String {
    state = fold.state.kind
    token = fold.state.token?.generation ?? .none
    request = fold.intents.request
    return ""
  }

  mutating func take(_ step: ExportStep) -> String {
    var text = ""
    if start == nil { text += head(step.record.time) }
    let isBack = advance(to: step.record.time)
    text += changes(to: step.after)
    let isNote = if case .note = step.record.content { true } else { false }
    text += line("i", step.record.name, isNote ? .notes : .state) { json in
      json.field("s", "t")
      json.object("args") { json in
        json.field("sequence", step.record.sequence)
        json.readable(step.record)
        if isBack { json.field("clockWentBack", true) }
      }
    }
    return text
  }

  mutating func end() -> String {
    guard start != nil else { return "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[]}\n" }
    var text = ending(of: token, at: .none) + ending(of: request)
    text += line("E", state.description, .state) { _ in }
    return String(text.dropLast(2)) + "\n]}\n"
  }

  private mutating func head(_ time: Timestamp) -> String {
    start = time
    var json = JSONWriter()
    json.object { json in
      json.field("journal", journal)
      json.field("start", time)
    }
    var text =
      "{\"displayTimeUnit\":\"ms\",\"otherData\":\(json.text),\"traceEvents\":[\n"
    text += meta("process_name", "journal \(journal)", nil)
    for lane in Lane.allCases { text += meta("thread_name", lane.name, lane) }
    text += line("B", state.description, .state) { _ in }
    if token != .none { text += token(token, "b") }
    if let request { text += self.request(request, "b") }
    return text
  }

  /// Returns the lines for states, tokens and requests that the record began or ended.
  private mutating func changes(to fold: SessionFold) -> String {
    var text = ""
    let current = fold.state.token?.generation ?? .none
    text += ending(of: token, at: current)
    if fold.intents.request?.sequence != request?.sequence { text += ending(of: request) }
    if fold.state.kind != state {
      text += line("E", state.description, .state) { _ in }
      text += line("B", fold.state.kind.description, .state) { _ in }
    }
    if current != token, current != .none { text += token(current, "b") }
    if let sent = fold.intents.request, sent.sequence != request?.sequence {
      text += request(sent, "b")
    }
    (state, token, request) = (fold.state.kind, current, fold.intents.request)
    return text
  }

  private func ending(of token: Generation, at current: Generation) -> String {
    token == .none || token == current ? "" : self.token(token, "e")
  }

  private func ending(of request: OpenIntents.Request?) -> String {
    request.map { self.request($0, "e") } ?? ""
  }

  private func token(_ token: Generation, _ phase: String) -> String {
    line(phase, token.description, .tokens) { json in
      json.field("cat", "token")
      json.field("id", token.number)
    }
  }

  private func request(_ request: OpenIntents.Request, _ phase: String) -> String {
    line(phase, request.sent.kind.description, .requests) { json in
      json.field("cat", "request")
      json.field("id", request.sequence)
    }
  }

  /// Advances to a record's time; returns whether that is earlier than the record before.
  ///
  /// An earlier time is shown at the latest time so far, so that the order of the records stays.
  private mutating func advance(to time: Timestamp) -> Bool {
    let passed = time.milliseconds(since: start ?? time)
    let (product, isTooLong) = passed.multipliedReportingOverflow(by: 1000)
    let micros = isTooLong ? (passed < 0 ? Int64.min : .max) : product
    defer { last = max(last, micros) }
    return micros < last
  }

  private func meta(_ name: String, _ value: String, _ lane: Lane?) -> String {
    var json = JSONWriter()
    json.object { json in
      json.field("ph", "M")
      json.field("name", name)
      json.field("pid", 1)
      json.field("tid", lane?.rawValue ?? 0)
      json.object("args") { $0.field("name", value) }
    }
    return json.text + ",\n"
  }

  private func line(
    _ phase: String, _ name: String, _ lane: Lane, _ body: (inout JSONWriter) -> Void
  ) -> String {
    var json = JSONWriter()
    json.object { json in
      json.field("ph", phase)
      json.field("name", name)
      json.field("pid", 1)
      json.field("tid", lane.rawValue)
      json.field("ts", last)
      body(&json)
    }
    return json.text + ",\n"
  }
}
