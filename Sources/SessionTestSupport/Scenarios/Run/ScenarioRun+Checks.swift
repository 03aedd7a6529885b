import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionJSON
import SessionKit
@_spi(Internals) import SessionTestKit

/// The lines that only check something.
extension ScenarioRun {
  mutating func check(_ step: ScenarioStep) throws {
    switch step.action {
    case .event(let kind, let fields, let times): for _ in 0..<times { try event(kind, fields) }
    case .note(let kind, let fields): try note(kind, fields)
    case .state(let kind, let fields):
      let state = try session(step.process).state
      guard state.kind.description == kind else {
        throw fail("\(step.process) is not \(kind), but \(state.line)")
      }
      try compare(fields, with: ScenarioWords.of(state), of: "\(kind)")
    case .shows(let fields):
      let session = try session(step.process)
      var words = ScenarioWords.of(session)
      words["page"] = calls.page(step.process) == nil ? "no" : "yes"
      try compare(fields, with: words, of: step.process)
      if fields.contains(where: { $0.name == "gate" }), let told = calls.toldGate(step.process),
        told != session.gate.isOpen
      {
        throw fail("the gate's sequence gave \(step.process) another value")
      }
    case .result(let label, let ending, let fields): try result(label, ending, fields)
    case .stored(let items):
      let stored: Set<SecretItem>
      do throws(SecretStoreError) { stored = try stage.secrets.items() } catch {
        throw fail("the store cannot be read: \(error)")
      }
      guard stored == items else { throw fail("stored is \(ScenarioRun.names(stored))") }
    case .cleared(let count):
      guard calls.cleared == count else {
        throw fail("the app's data was cleared \(calls.cleared) times")
      }
    case .received(let count): try received(count, in: step.process)
    case .news(let count):
      guard calls.news == count else {
        throw fail("the app received \(calls.news) notifications of a changed status")
      }
    case .change(let kind, let fields): try change(kind, fields)
    case .waiting(let expected):
      try compare(changes.queue.pending.map(\.change), with: expected, "wait")
      try expectSameQueue()
    case .givenUp(let expected):
      try compare(changes.queue.failures.map(\.change), with: expected, "are given up")
    case .pending, .at, .until, .clock, .network, .secrets, .journal, .act, .request, .answer,
      .lost, .silent, .page, .token, .kill, .powerCut:
      break
    }
  }

  private static func names(_ items: Set<SecretItem>) -> String {
    items.isEmpty ? "nothing" : items.map { "\($0)" }.sorted().joined(separator: " ")
  }

  private func session(_ process: String) throws -> Session {
    guard let session = calls.session(process) else { throw fail("\(process) is not open") }
    return session
  }

  /// Checks each word of a line; secrets are compared, but not shown.
  func compare(_ fields: [ScenarioStep.Field], with words: ScenarioWords.Words, of what: String)
    throws
  {
    for field in fields {
      guard let actual = words[field.name] else { throw fail("\(what) has no \(field.name) here") }
      let expected = tokens.fill(field.value)
      guard expected == "*" || expected == actual else {
        let isSecret = tokens.secrets.contains { actual.contains($0) }
        throw fail(
          "\(field.name) of \(what) is " + (isSecret ? "another" : "\(actual)")
            + ", not \(field.value)")
      }
    }
  }

  private mutating func event(_ kind: String, _ fields: [ScenarioStep.Field]) throws {
    guard events.indices.contains(namedEvents) else { throw fail("there is no further event") }
    let record = events[namedEvents]
    guard let event = record.event, event.kind.description == kind else {
      throw fail("the next event is not \(kind), but \(record.content.line)")
    }
    try compare(fields, with: ScenarioWords.of(event, at: record.time), of: kind)
    namedEvents += 1
  }

  private mutating func note(_ kind: String, _ fields: [ScenarioStep.Field]) throws {
    let left = notes[namedNotes...]
    guard let index = left.firstIndex(where: { $0.kind.description == kind }) else {
      throw fail("there is no further note \(kind)")
    }
    try compare(fields, with: ScenarioWords.of(notes[index]), of: kind)
    namedNotes = index + 1
  }

  private mutating func result(
    _ label: String?, _ expected: ScenarioStep.Ending, _ fields: [ScenarioStep.Field]
  ) throws {
    let open = asked.indices.filter { !asked[$0].isNamed && asked[$0].label == label }
    // Draws may decide which of several equal commands ends first.
    let index = open.first { calls.ending($0) != nil } ?? open.first
    guard let index else { throw fail("no command is left that has this result") }
    guard let ending = calls.ending(index) else {
      throw fail("\"\(asked[index].text)\" has not ended yet")
    }
    let name = ending.error ?? "ok"
    switch expected {
    case .ok where ending.error == nil: break
    case .error(name): break
    default: throw fail("\"\(asked[index].text)\" ended: \(name)")
    }
    try compare(fields, with: ending.words, of: "the result")
    asked[index].isNamed = true
  }

  // MARK: Requests

  /// Checks that the next request that arrived is this one.
  mutating func name(_ expected: ExpectedRequest) throws {
    let arrived = stage.network.arrived
    guard arrived.indices.contains(namedArrivals) else { throw fail("no further request arrived") }
    let (number, request) = arrived[namedArrivals]
    let wanted = "\(expected.method) \(expected.path)"
    guard request.method == expected.method, request.path == expected.path else {
      throw fail("the next request is not \(wanted), but \(request.line)")
    }
    try compare(expected.query, query: request.query, wanted)
    try compareAuthorization(expected.authorization, request)
    let key = expected.key.map { [tokens.fill("<\($0)>")] } ?? []
    guard request.fields.values(of: "idempotency-key") == key else {
      throw fail("\(wanted) has another Idempotency-Key, an unexpected one, or none")
    }
    for header in expected.headers {
      let values = request.fields.values(of: header.name)
      guard header.value == "*" ? !values.isEmpty : values == [tokens.fill(header.value)] else {
        throw fail("\(wanted) has another \(header.name), or none")
      }
    }
    if let body = expected.body {
      try compare(body, request, wanted)
    } else if !request.body.isEmpty {
      throw fail("\(wanted) has a body, but no json or form line expects it")
    }
    namedArrivals += 1
    requests.append(Request(number: number, label: expected.label, line: line))
  }

  private func compareAuthorization(
    _ expected: ExpectedRequest.Authorization?, _ request: ReceivedRequest
  ) throws {
    let values = request.fields.values(of: "authorization")
    let wanted: [String] =
      switch expected {
      case nil: []
      case .bearer(let token): ["Bearer \(tokens.fill(token))"]
      case .basic(let id, let secret):
        ["Basic " + Data("\(id):\(secret)".utf8).base64EncodedString()]
      }
    guard values != wanted else { return }
    throw fail(
      wanted.isEmpty
        ? "\(request.line) has an Authorization, but no bearer or basic line expects it"
        : "\(request.line) has another Authorization, or none")
  }

  /// Checks the query of an address; a name that is new takes the value in the query.
  private mutating func compare(_ fields: [ScenarioStep.Field]?, query: String?, _ wanted: String)
    throws
  {
    guard let fields else {
      guard query == nil else { throw fail("\(wanted) has a query, but no query line expects it") }
      return
    }
    guard let query else { throw fail("\(wanted) has no query") }
    let form = WebForm(query)
    for field in fields {
      guard case .name(let name)? = ScenarioName.pieces(of: field.value).first, !tokens.knows(name),
        let value = form[field.name]
      else { continue }
      tokens.take(value, as: name)
    }
    try compare(fields, with: form, wanted)
    if let challenge = form["code_challenge"] { challenges.insert(challenge) }
  }

  private func compare(_ fields: [ScenarioStep.Field], with form: WebForm, _ wanted: String) throws
  {
    for pair in form.fields {
      guard let field = fields.first(where: { $0.name == pair.name }) else {
        let isWord = pair.name.count <= 24 && pair.name.allSatisfy { $0.isLetter || $0 == "_" }
        throw fail("\(wanted) also has \(isWord ? pair.name : "text that is not a form field")")
      }
      guard field.value == "*" || pair.value == tokens.fill(field.value) else {
        throw fail("\(pair.name) of \(wanted) is another")
      }
    }
    for field in fields where form[field.name] == nil {
      throw fail("\(wanted) has no \(field.name)")
    }
  }

  private mutating func compare(
    _ body: ExpectedRequest.Body, _ request: ReceivedRequest, _ wanted: String
  ) throws {
    switch body {
    case .json(let template):
      let value: JSONValue
      do throws(JSONReader.Problem) { value = try JSONReader.read(request.body) } catch {
        throw fail("the body of \(wanted) is not JSON")
      }
      let expected = template.filled { tokens.fill($0) }
      if let difference = JSONTemplate.difference(expected, value) {
        throw fail("\(wanted): \(difference)")
      }
    case .form(let fields):
      let form = WebForm(request.body)
      try compare(fields, with: form, wanted)
      guard let verifier = form["code_verifier"] else { return }
      tokens.learn(verifier)
      guard challenges.contains(CodeGrant.challenge(of: verifier)) else {
        throw fail("code_verifier of \(wanted) matches no earlier code_challenge")
      }
    }
  }

  // MARK: Subscribers

  /// Checks that a subscriber received exactly the first `count` events of the journal, once and in
  /// order.
  private func received(_ count: Int, in process: String) throws {
    _ = try session(process)
    let heard = calls.heard(process)
    guard heard == events.prefix(count).map(\.sequence), heard.count == count else {
      throw fail(
        "a subscriber in \(process) received the events \(heard), not the first \(count) of "
          + "\(events.map(\.sequence))")
    }
  }

  /// Checks that each subscriber received the journal's events in order, without gaps and
  /// duplicates.
  ///
  /// If there was another process, the last events may be missing.
  func expectAllHeard() throws {
    guard stage.world.failures.isEmpty else {
      throw fail(stage.world.failures.joined(separator: "; "))
    }
    let processes = Set(scenario.steps.map(\.process))
    let all = events.map(\.sequence)
    for process in processes.sorted() where calls.session(process) != nil {
      let heard = calls.heard(process)
      guard heard == Array(all.prefix(heard.count)), processes.count > 1 || heard.count == all.count
      else { throw fail("a subscriber in \(process) received \(heard), and the events are \(all)") }
    }
  }

  // MARK: Secrets

  /// Checks that no token, password or e-mail address is in the journals, in texts or in errors.
  func expectNoLeak() throws {
    var texts = records.map { "\($0) \($0.content.line)" }
    texts += asked.indices.compactMap { calls.ending($0)?.text }
    texts += stage.world.failures
    for process in Set(scenario.steps.map(\.process)).sorted() {
      guard let session = calls.session(process) else { continue }
      texts += ["\(session)", "\(session.state)", "\(String(describing: session.currentToken))"]
    }
    var all = Data(texts.joined(separator: "\n").utf8)
    do {
      for path in [stage.journal, stage.changes] {
        all.append(contentsOf: try stage.bytes(path) ?? [])
      }
    } catch { throw fail("a journal cannot be read: \(error)") }
    for secret in tokens.secrets where all.range(of: Data(secret.utf8)) != nil {
      throw fail("a token, a password or an e-mail address is in the journal or in a text")
    }
  }
}
