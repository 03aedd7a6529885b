@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJSON
import SessionJournal
import SessionKit
@_spi(Internals) import SessionTestKit
import SessionWebSignIn

/// A run of a scenario: what has happened, and which part of it the file has named.
struct ScenarioRun {
  /// A command, and whether its result was named.
  struct Call {
    let line: Int
    let label: String?
    let text: String
    let process: String
    var isNamed = false
  }

  /// A request that the file has named.
  struct Request {
    let number: Int
    let label: String?
    let line: Int
    var isAnswered = false
  }

  let scenario: Scenario
  let stage: ScenarioStage
  let calls: ScenarioCalls
  private let identity: ScenarioIdentity
  /// The code challenges in addresses; each code verifier must match one.
  var challenges: Set<String> = []
  var tokens = ScenarioTokens()
  private let start: Int64
  /// The number of the line that is run.
  var line = 1
  /// Whether commands were given and no job has run since; they begin together.
  private var isStirred = false
  private var opened: Set<String> = []
  /// The processes that the lines so far have named.
  private(set) var processes: Set<String> = ["app"]
  var asked: [Call] = []
  /// The requests that the file has named.
  var requests: [Request] = []
  var namedArrivals = 0
  var changes = ScenarioChangeBook()
  private(set) var records: [SessionRecord] = []
  /// The journal's bytes when it was last read.
  private var journal: [UInt8] = []
  var events: [SessionRecord] = []
  var namedEvents = 0
  var notes: [SessionNote] = []
  /// The index of the note from which the next expected one is searched.
  var namedNotes = 0
  /// The lines that describe what happened.
  private var log: [String] = []
  private var toldArrivals = 0
  private var toldEnds = 0

  init(_ scenario: Scenario, on stage: ScenarioStage) {
    self.scenario = scenario
    self.stage = stage
    identity = ScenarioIdentity(scenario.setting, on: stage)
    calls = ScenarioCalls(in: stage.world, identity)
    start = stage.world.clock.now().uptime
    for user in scenario.setting.users.values { tokens.keep(user) }
    tokens.keep(scenario.setting.secret?.text)
  }

  mutating func play() throws(ScenarioFailure) {
    do { try playSteps() } catch { throw error as? ScenarioFailure ?? fail("\(error)") }
  }

  private mutating func playSteps() throws {
    if let known = scenario.setting.known { try begin(with: known.answer, line: known.line) }
    for next in scenario.lines {
      line = next.number
      try play(next)
    }
    try expectAllNamed("the scenario ends")
    if let open = requests.first(where: isOpen) {
      line = open.line
      throw fail("nothing answers this request")
    }
    if let call = asked.first(where: { !$0.isNamed }) {
      line = call.line
      throw fail("no result line checks \"\(call.text)\"")
    }
    try expectAllHeard()
    try expectNoLeak()
  }

  func fail(_ problem: String) -> ScenarioFailure {
    ScenarioFailure(file: scenario.file, line: line, problem: problem, before: Array(log.suffix(6)))
  }

  // MARK: What happens

  /// The virtual time since the start in milliseconds.
  var now: Int64 { stage.world.clock.now().uptime - start }

  /// The server's time in milliseconds since 1970; jumps of the device's clock do not change it.
  var serverTime: Int64 { scenario.setting.start.milliseconds + now }

  private mutating func tell(_ text: String) { log.append("\(now) ms: \(text)") }

  /// Returns whether a named request still needs an answer.
  private func isOpen(_ request: Request) -> Bool {
    !request.isAnswered && !stage.network.isAbandoned(request.number)
  }

  mutating func settle() throws {
    isStirred = false
    do throws(ScenarioStage.Stuck) { try stage.settle() } catch { throw fail("\(error)") }
    try look()
  }

  /// Records what has happened.
  private mutating func look() throws {
    let arrived = stage.network.arrived
    for arrival in arrived.dropFirst(toldArrivals) { tell("\(arrival.request.line) arrives") }
    toldArrivals = arrived.count
    for record in try readJournal().dropFirst(records.count) {
      records.append(record)
      tell(record.content.line)
      switch record.content {
      case .event: events.append(record)
      case .note(let note): notes.append(note)
      case .snapshot, .unknown: break
      }
    }
    for line in try lookAtChanges() { tell(line) }
    for call in calls.ended.dropFirst(toldEnds) where asked.indices.contains(call) {
      tell("\"\(asked[call].text)\" ends: \(calls.ending(call)?.error ?? "ok")")
      toldEnds += 1
    }
  }

  /// Reads the disk from the beginning, since records may be lost.
  mutating func lookAnew() throws {
    (records, journal, events, notes) = ([], [], [], [])
    changes = ScenarioChangeBook()
    try settle()
    namedNotes = min(namedNotes, notes.count)
    changes.named = changes.records.count
  }

  private mutating func readJournal() throws -> [SessionRecord] {
    do {
      guard let bytes = try stage.bytes(stage.journal), bytes != journal else { return records }
      journal = bytes
      var reader = try JournalReader(bytes: bytes)
      var records: [SessionRecord] = []
      while let raw = try reader.next() {
        records.append(
          try SessionCodec.decode(sequence: raw.sequence, kind: raw.kind, payload: raw.payload))
      }
      return records
    } catch { throw fail("the journal cannot be read: \(error)") }
  }

  /// Checks that all requests, events and results so far were named.
  mutating func expectAllNamed(_ cause: String) throws {
    try settle()
    try expectRequestsNamed(cause)
    try expectEffectsNamed(cause)
  }

  private func expectRequestsNamed(_ cause: String) throws {
    let arrived = stage.network.arrived
    guard namedArrivals == arrived.count else {
      throw fail("\(cause), and no line expects \(arrived[namedArrivals].request.line)")
    }
  }

  private func expectEffectsNamed(_ cause: String) throws {
    if events.indices.contains(namedEvents) {
      throw fail("\(cause), and no line expects the event \(events[namedEvents].content.line)")
    }
    for call in calls.ended where asked.indices.contains(call) && !asked[call].isNamed {
      let end = calls.ending(call)?.error ?? "ok"
      throw fail("\(cause), and no result line expects that \"\(asked[call].text)\" ended: \(end)")
    }
  }

  // MARK: Steps that cause something

  private mutating func play(_ line: ScenarioLine) throws {
    let (label, line) = line.taking("as")
    switch line.words[0] {
    case "at", "until":
      try expectAllNamed("time passes")
      try pass(to: try line.duration(), isStrict: line.words[0] == "at")
    case "clock":
      try expectAllNamed("the clock jumps")
      let clock = stage.world.clock
      clock.setTime(clock.now().time.advanced(by: try line.duration()))
    case "network":
      try expectAllNamed("the network changes")
      stage.network.isOn = try line.choice("on", "off")
    case "secrets":
      try expectAllNamed("the lock changes")
      stage.secrets.isLocked = try line.choice("locked", "unlocked")
    case "journal": try spoilJournal(isLost: try line.choice("lost", "damaged"))
    case "do":
      let (process, line) = line.taking("in")
      try act(try ScenarioCommand(line), label, in: named(process))
    case "page":
      let (process, line) = line.taking("in")
      try user(line, in: named(process))
    case "pending": calls.pending = try line.count()
    case "kill": try kill("app")
    case "power": try cutPower()
    case "request":
      try settle()
      try name(line, label)
    case "answer":
      let (label, line) = line.taking("to")
      try decide(try fate(line), label)
    case "lost": try decide(.lost, nil)
    case "silent": try decide(nil, nil)
    case "token":
      guard let claims = line.details.first, case .object(let members) = give(try claims.json())
      else { throw fail("a token has the form A2 3600s, with its claims as json") }
      let life = line.words.count > 2 ? ScenarioDuration.milliseconds(line.words[2]) : nil
      tokens.make(try line.word(1), life: life, claims: members, at: serverTime)
    default:
      let (process, line) = line.taking("in")
      try settle()
      try check(line, in: named(process))
    }
  }

  private mutating func named(_ process: String?) -> String {
    processes.insert(process ?? "app")
    return process ?? "app"
  }

  /// Removes or damages the journal's file.
  private mutating func spoilJournal(isLost: Bool) throws {
    try expectAllNamed("the journal's file changes")
    guard opened.allSatisfy({ calls.session($0) == nil }) else {
      throw fail("a session has the journal open")
    }
    do {
      guard var bytes = try stage.bytes(stage.journal), bytes.count > Self.firstPayload else {
        throw fail("there is no journal with a record")
      }
      bytes[Self.firstPayload] ^= 1
      try stage.put(isLost ? nil : bytes)
      journal = isLost ? [] : bytes
    } catch let failure as ScenarioFailure { throw failure } catch {
      throw fail("the journal's file cannot be changed: \(error)")
    }
    (records, events, namedEvents) = ([], [], 0)
  }

  /// The offset of the first record's payload: after the file's header and the frame's header.
  private static let firstPayload = 64 + 32

  private mutating func pass(to time: Int64, isStrict: Bool) throws {
    let target = start + time
    guard target >= stage.world.clock.now().uptime else {
      throw fail("it is \(now) ms already, and time does not go back")
    }
    var moments = 0
    while let next = stage.nextMoment, next <= target {
      moments += 1
      guard moments <= 100_000 else { throw fail("the scenario runs in an endless loop") }
      do throws(ScenarioStage.Stuck) { try stage.pass(to: next) } catch { throw fail("\(error)") }
      try look()
      guard events.count - namedEvents <= Scenario.mostEvents else {
        throw fail("there are more than \(Scenario.mostEvents) events on the way")
      }
      if isStrict, next < target { try expectAllNamed("it is only \(now) ms") }
    }
    do throws(ScenarioStage.Stuck) { try stage.pass(to: target) } catch { throw fail("\(error)") }
    try look()
  }

  private mutating func act(_ command: ScenarioCommand, _ label: String?, in process: String)
    throws
  {
    if !isStirred { try expectAllNamed("the user continues") }
    let app = try app(in: process)
    var command = command
    command.words = command.words.map {
      command.isChange ? tokens.key($0) : tokens.give($0, at: serverTime)
    }
    if calls.session(process) == nil, command.verb != "open" {
      guard opened.insert(process).inserted else { throw fail("\(process) is not open") }
      try open(app, in: process)
    } else if command.verb == "open" {
      guard calls.session(process) == nil else { throw fail("\(process) is open already") }
      opened.insert(process)
    }
    let (number, users, calls, asking) = (asked.count, scenario.setting.users, calls, command)
    let text = "do \(command.verb) in \(process)"
    asked.append(Call(line: line, label: label, text: text, process: process))
    let task = stage.world.spawn(text, of: app.life) {
      await calls.perform(number, asking, in: process, app, users)
    }
    if command.isSending { calls.keep(task, in: process) }
    isStirred = true
  }

  /// Returns the app's settings for a process.
  private func app(in process: String) throws -> ScenarioCalls.App {
    let (setting, stage) = (scenario.setting, stage)
    var configuration = stage.configuration(process, try setting.preset(at: stage.baseURL))
    if identity.isOwned { configuration.identityProvider = identity.provider }
    return ScenarioCalls.App(
      configuration: calls.hosted(configuration),
      changes: setting.changes.map { (stage.changes, stage.setup(process, $0.policy, $0.limits)) },
      life: stage.lives.life(of: process))
  }

  /// Performs an act of the user on the page that is shown.
  private mutating func user(_ line: ScenarioLine, in process: String) throws {
    try expectAllNamed("the user continues")
    guard let page = calls.page(process) else { throw fail("no page is shown in \(process)") }
    let act: HeadlessPage.Act
    switch try line.word(1) {
    case "types":
      guard let user = scenario.setting.users[try line.word(2)] else {
        throw fail("there is no such user")
      }
      act = .types(name: user.name, password: user.password)
    case "forgets": act = .follows("forgot")
    case "cancels": act = .follows("cancel")
    case "leaves": act = .leaves
    case let word: throw fail("\"\(word)\" is no act on a page")
    }
    do throws(HeadlessPage.Problem) { try page.act(act) } catch { throw fail("\(error)") }
  }

  /// Opens a session before its first command.
  private mutating func open(_ app: ScenarioCalls.App, in process: String) throws {
    let calls = calls
    stage.world.spawn("open in \(process)", of: app.life) { try await calls.open(app, in: process) }
    try settle()
    guard calls.session(process) != nil else {
      throw fail("\(process) cannot be opened: \(stage.world.failures.joined(separator: "; "))")
    }
  }

  private mutating func fate(_ line: ScenarioLine) throws -> LoopbackFate {
    guard let status = Int(try line.word(1)) else { throw fail("an answer needs a status") }
    var sent = SentResponse(status: status)
    for detail in line.details {
      switch detail.words[0] {
      case "header":
        let header = try header(detail)
        sent.fields.append(HTTPField(header.name, tokens.give(header.value, at: serverTime)))
      case "html":
        sent.fields.append(HTTPField("Content-Type", "text/html"))
        sent.body = Array("<!doctype html><title>\(detail.rest)</title>".utf8)
      case "page":
        let links = try detail.fields(from: 2).map {
          ($0.name, tokens.give($0.value, at: serverTime))
        }
        let page = WebPage(
          title: "Sign in",
          form: WebPage.Form(action: tokens.give(try detail.word(1), at: serverTime)),
          links: Dictionary(links) { first, _ in first })
        sent.fields.append(HTTPField("Content-Type", "text/html; charset=utf-8"))
        sent.body = Array(page.html.utf8)
      case "json":
        sent.fields.append(HTTPField("Content-Type", "application/json"))
        sent.body = Array(give(try detail.json()).text.utf8)
      case let word: throw fail("\"\(word)\" is no part of an answer")
      }
    }
    return .answer(sent)
  }

  func header(_ line: ScenarioLine) throws -> ScenarioLine.Field {
    let parts = line.rest.split(separator: ":", maxSplits: 1)
    guard parts.count == 2 else { throw fail("a header has the form Retry-After: 7") }
    return ScenarioLine.Field(
      name: parts[0].lowercased(), value: String(parts[1].drop { $0 == " " }))
  }

  private mutating func give(_ template: JSONTemplate) -> JSONValue {
    let time = serverTime
    return template.filled { tokens.give($0, at: time) }
  }

  /// Decides the outcome of the request with this label, or of the last one that needs an answer.
  private mutating func decide(_ fate: LoopbackFate?, _ label: String?) throws {
    try settle()
    try expectEffectsNamed("the server answers")
    let index =
      if let label { requests.lastIndex { $0.label == label } } else {
        requests.lastIndex(where: isOpen)
      }
    guard let index, !requests[index].isAnswered else {
      throw fail("no open request matches this answer")
    }
    guard stage.network.isWaiting(requests[index].number) else {
      throw fail("the request of this answer no longer waits")
    }
    requests[index].isAnswered = true
    guard let fate else { return }
    stage.network.markAnswered(requests[index].number)
    stage.decide(requests[index].number, fate)
    try settle()
  }

  // MARK: The beginning

  /// Performs a login before the scenario begins, with an endpoint of its own.
  private mutating func begin(with answer: JSONTemplate, line: Int) throws {
    self.line = line
    var preset = try scenario.setting.preset(at: stage.baseURL)
    preset.backend.login = .post("known-session")
    preset.policy.limits.credentials = .none
    preset.policy.limits.profileCheck = .whenUnknown
    let app = ScenarioCalls.App(
      configuration: stage.configuration("before", preset), life: stage.lives.life(of: "before"))
    let before = ScenarioCalls(in: stage.world, identity)
    stage.world.spawn("a session that is known") {
      try await before.open(app, in: "before")
      try await before.session("before")?.login(.password("known", "known"))
      try await before.close("before")
    }
    try settle()
    guard let arrival = stage.network.arrived.first else { throw fail("the user could not log in") }
    var sent = SentResponse(status: 200)
    sent.fields.append(HTTPField("Content-Type", "application/json"))
    sent.body = Array(give(answer).text.utf8)
    stage.network.markAnswered(arrival.number)
    stage.decide(arrival.number, .answer(sent))
    try settle()
    guard stage.world.failures.isEmpty, events.count == 1 else {
      throw fail("the user was not logged in: \(stage.world.failures.joined(separator: "; "))")
    }
    (namedArrivals, namedEvents, namedNotes) = (1, 1, notes.count)
  }
}

extension ReceivedRequest {
  /// The method and the path, such as `POST /auth/refresh`, without secrets.
  var line: String { "\(method) \(ReceivedRequest.withoutSecrets(path: path))" }
}
