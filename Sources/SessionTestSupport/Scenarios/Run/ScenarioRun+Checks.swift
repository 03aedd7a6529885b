import Foundation
import SessionChanges
@_spi(Internals) import SessionCore
import SessionJSON
import SessionKit
@_spi(Internals) import SessionTestKit

/// The lines that only check something.
extension ScenarioRun {
  mutating func check(_ line: ScenarioLine, in process: String) throws {
    switch line.words[0] {
    case "event":
      var line = line
      var times = 1
      if let last = line.words.last, last.first == "x", let count = Int(last.dropFirst()) {
        times = count
        line.words.removeLast()
      }
      for _ in 0..<times { try event(try line.word(1), try line.fields(from: 2)) }
    case "note": try note(try line.word(1), try line.fields(from: 2))
    case "state":
      let state = try session(process).state
      guard state.kind.description == (try line.word(1)) else {
        throw fail("\(process) is not \(line.words[1]), but \(state.line)")
      }
      try compare(try line.fields(from: 2), with: ScenarioWords.of(state), of: line.words[1])
    case "shows":
      let (session, fields) = (try session(process), try line.fields())
      var words = ScenarioWords.of(session)
      words["page"] = calls.page(process) == nil ? "no" : "yes"
      try compare(fields, with: words, of: process)
      if fields.contains(where: { $0.name == "gate" }), let told = calls.toldGate(process),
        told != session.gate.isOpen
      {
        throw fail("the gate's sequence gave \(process) another value")
      }
    case "result": try result(line)
    case "stored":
      var items: Set<SecretItem> = []
      for word in line.words.dropFirst() where word != "nothing" {
        guard let item = SecretItem(word: word) else { throw fail("\"\(word)\" is no item") }
        items.insert(item)
      }
      let stored: Set<SecretItem>
      do throws(SecretStoreError) { stored = try stage.secrets.items() } catch {
        throw fail("the store cannot be read: \(error)")
      }
      guard stored == items else { throw fail("stored is \(ScenarioRun.names(stored))") }
    case "cleared":
      guard calls.cleared == (try line.count()) else {
        throw fail("the app's data was cleared \(calls.cleared) times")
      }
    case "received": try received(try line.count(), in: process)
    case "news":
      guard calls.news == (try line.count()) else {
        throw fail("the app received \(calls.news) notifications of a changed status")
      }
    case "change": try change(try line.word(1), try line.fields(from: 2))
    case "waiting":
      try compare(changes.queue.pending.map(\.change), with: line, "wait")
      try expectSameQueue()
    case "givenUp":
      try compare(changes.queue.failures.map(\.change), with: line, "are given up")
    case let word: throw fail("\"\(word)\" is not a step")
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
  func compare(_ fields: [ScenarioLine.Field], with words: ScenarioWords.Words, of what: String)
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

  private mutating func event(_ kind: String, _ fields: [ScenarioLine.Field]) throws {
    guard events.indices.contains(namedEvents) else { throw fail("there is no further event") }
    let record = events[namedEvents]
    guard let event = record.event, event.kind.description == kind else {
      throw fail("the next event is not \(kind), but \(record.content.line)")
    }
    try compare(fields, with: ScenarioWords.of(event, at: record.time), of: kind)
    namedEvents += 1
  }

  private mutating func note(_ kind: String, _ fields: [ScenarioLine.Field]) throws {
    let left = notes[namedNotes...]
    guard let index = left.firstIndex(where: { $0.kind.description == kind }) else {
      throw fail("there is no further note \(kind)")
    }
    try compare(fields, with: ScenarioWords.of(notes[index]), of: kind)
    namedNotes = index + 1
  }

  /// Checks `result [LABEL] ok …` or `result [LABEL] error NAME …`.
  private mutating func result(_ line: ScenarioLine) throws {
    var index = 1
    var label: String?
    if !["ok", "error"].contains(try line.word(1)) {
      label = line.words[1]
      index = 2
    }
    let isError = try line.word(index) == "error"
    let expected = isError ? try line.word(index + 1) : "ok"
    let open = asked.indices.filter { !asked[$0].isNamed && asked[$0].label == label }
    // Draws may decide which of several equal commands ends first.
    guard let call = open.first(where: { calls.ending($0) != nil }) ?? open.first else {
      throw fail("no command is left that has this result")
    }
    guard let ending = calls.ending(call) else {
      throw fail("\"\(asked[call].text)\" has not ended yet")
    }
    let name = ending.error ?? "ok"
    guard name == expected else { throw fail("\"\(asked[call].text)\" ended: \(name)") }
    let fields = try line.fields(from: index + (isError ? 2 : 1))
    try compare(fields, with: ending.words, of: "the result")
    asked[call].isNamed = true
  }

  // MARK: Requests

  /// Checks that the next request that arrived is this one.
  mutating func name(_ line: ScenarioLine, _ label: String?) throws {
    let arrived = stage.network.arrived
    guard arrived.indices.contains(namedArrivals) else { throw fail("no further request arrived") }
    let (number, request) = arrived[namedArrivals]
    let wanted = "\(try line.word(1)) \(try line.word(2))"
    guard "\(request.method) \(request.path)" == wanted else {
      throw fail("the next request is not \(wanted), but \(request.line)")
    }
    // What no line expects must not be there.
    var expected = ["authorization": [String](), "idempotency-key": []]
    var query: [ScenarioLine.Field]?
    var hasBody = false
    for detail in line.details {
      switch detail.words[0] {
      case "query": query = (query ?? []) + (try detail.fields())
      case "bearer": expected["authorization"] = ["Bearer \(tokens.fill(try detail.word(1)))"]
      case "basic":
        let pair = Data("\(try detail.word(1)):\(try detail.word(2))".utf8)
        expected["authorization"] = ["Basic " + pair.base64EncodedString()]
      case "key": expected["idempotency-key"] = [tokens.fill(try detail.word(1))]
      case "header":
        let header = try header(detail)
        expected[header.name] = [tokens.fill(header.value)]
      case "json":
        hasBody = true
        try compare(try detail.json(), request, wanted)
      case "form":
        hasBody = true
        try compare(form: try detail.fields(), request, wanted)
      case let word: throw fail("\"\(word)\" is no part of a request")
      }
    }
    try compare(query, query: request.query, wanted)
    for (name, values) in expected.sorted(by: { $0.key < $1.key })
    where request.fields.values(of: name) != values {
      throw fail("\(wanted) has another \(name), an unexpected one, or none")
    }
    guard hasBody || request.body.isEmpty else {
      throw fail("\(wanted) has a body, but no json or form line expects it")
    }
    namedArrivals += 1
    requests.append(Request(number: number, label: label, line: self.line))
  }

  /// Checks the query of an address; a name that is new takes the value in the query.
  private mutating func compare(_ fields: [ScenarioLine.Field]?, query: String?, _ wanted: String)
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

  private func compare(_ fields: [ScenarioLine.Field], with form: WebForm, _ wanted: String) throws
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

  private func compare(_ template: JSONTemplate, _ request: ReceivedRequest, _ wanted: String)
    throws
  {
    let value: JSONValue
    do throws(JSONReader.Problem) { value = try JSONReader.read(request.body) } catch {
      throw fail("the body of \(wanted) is not JSON")
    }
    let expected = template.filled { tokens.fill($0) }
    if let difference = JSONTemplate.difference(expected, value) {
      throw fail("\(wanted): \(difference)")
    }
  }

  private mutating func compare(
    form fields: [ScenarioLine.Field], _ request: ReceivedRequest, _ wanted: String
  ) throws {
    let form = WebForm(request.body)
    try compare(fields, with: form, wanted)
    guard let verifier = form["code_verifier"] else { return }
    tokens.learn(verifier)
    guard challenges.contains(CodeGrant.challenge(of: verifier)) else {
      throw fail("code_verifier of \(wanted) matches no earlier code_challenge")
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
    for process in processes.sorted() {
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
