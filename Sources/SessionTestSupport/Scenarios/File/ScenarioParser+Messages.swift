@_spi(Internals) import SessionChanges
@_spi(Internals) import SessionCore
import SessionJSON
import SessionKit

/// Requests and answers, and the lines that are indented below them.
extension ScenarioParser {
  func target(_ words: [String]) throws -> (method: String, path: String) {
    guard words.count == 2, words[1].first == "/" else {
      throw error("a request has the form POST /auth/refresh")
    }
    guard ["GET", "POST", "PUT", "PATCH", "DELETE"].contains(words[0]) else {
      throw error("\"\(words[0])\" is not a method")
    }
    return (words[0], words[1])
  }

  mutating func request(_ words: [String], _ label: String?, _ block: ScenarioBlock) throws
    -> ExpectedRequest
  {
    let label = try given(label)
    let (method, path) = try target(words)
    var request = ExpectedRequest(method: method, path: path, label: label)
    var index = 0
    while index < block.details.count {
      let detail = block.details[index]
      line = detail
      let (word, arguments) = (detail.words[0], Array(detail.words.dropFirst()))
      let isAuthorization = word == "bearer" || word == "basic"
      let isBody = ["json", "form"].contains(word)
      if isAuthorization && request.authorization != nil || isBody && request.body != nil {
        throw error("there is one already")
      }
      index += 1
      switch word {
      case "json":
        let read = try json(block.details, from: index - 1, isAnswer: false)
        request.body = .json(read.template)
        index = read.next
      case "query": request.query = (request.query ?? []) + (try query(arguments))
      case "form":
        let pairs = try fields(arguments)
        try checkNames(of: pairs)
        request.body = .form(pairs)
      case "bearer":
        guard arguments.count == 1 else { throw error("bearer needs one token") }
        try checkNames(arguments[0], isGiving: false)
        request.authorization = .bearer(arguments[0])
      case "key": request.key = try key(of: arguments, request.key)
      case "basic":
        guard arguments.count == 2 else { throw error("basic needs an id and a secret") }
        request.authorization = .basic(id: arguments[0], secret: arguments[1])
      case "header": request.headers.append(try header(detail, isGiving: false))
      default: throw error("\"\(word)\" is not a part of a request")
      }
    }
    return request
  }

  mutating func answer(_ words: [String], _ block: ScenarioBlock) throws -> ScenarioStep.Action {
    var words = words
    let label = try known(take("to", from: &words))
    guard words.count == 1, let status = Int(words[0]), (200...599).contains(status) else {
      throw error("a status must be from 200 to 599")
    }
    var answer = ScriptedAnswer(status: status)
    var hasBody = false
    var index = 0
    while index < block.details.count {
      let detail = block.details[index]
      line = detail
      let word = detail.words[0]
      if hasBody, word != "header" { throw error("there is one already") }
      index += 1
      hasBody = hasBody || word != "header"
      switch word {
      case "json":
        let read = try json(block.details, from: index - 1, isAnswer: true)
        answer.body = .json(read.template)
        index = read.next
      case "html": answer.body = .html(detail.rest)
      case "page": answer.body = .page(try page(Array(detail.words.dropFirst())))
      case "header": answer.headers.append(try header(detail, isGiving: true))
      default: throw error("\"\(word)\" is not a part of an answer")
      }
    }
    return .answer(answer, to: label)
  }

  /// Parses a page, such as `/signin forgot=/forgotten`.
  private mutating func page(_ words: [String]) throws -> WebPage {
    guard let action = words.first, action.first == "/" else {
      throw error("a page has the form /signin forgot=/forgotten cancel=/cancelled")
    }
    let links = try fields(words.dropFirst(), names: ScenarioVocabulary.links)
    for word in words { try checkNames(word, isGiving: true) }
    return WebPage(
      title: "Sign in", form: WebPage.Form(action: action),
      links: Dictionary(links.map { ($0.name, $0.value) }) { first, _ in first })
  }

  /// Parses the expected query of an address; the first use of a name takes the value in the
  /// address.
  private mutating func query(_ words: [String]) throws -> [ScenarioStep.Field] {
    let pairs = try fields(words)
    for pair in pairs {
      for case .name(let name) in ScenarioName.pieces(of: pair.value) where isNew(name) {
        guard name.form == nil, pair.value == "<\(name.name)>" else {
          throw error("\(name.name) is read from the address: write <\(name.name)> alone")
        }
      }
      try checkNames(pair.value, isGiving: true)
    }
    return pairs
  }

  /// Returns whether no line above defines this name.
  private func isNew(_ name: ScenarioName) -> Bool { names[name.name] == nil }

  private mutating func header(_ line: ScenarioLine, isGiving: Bool) throws -> ScenarioStep.Field {
    let parts = line.rest.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, let name = parts.first, !name.isEmpty, !name.contains(" "),
      name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
    else { throw error("a header has the form Retry-After: 7") }
    guard name.lowercased() != "authorization" else { throw error("use bearer or basic") }
    try checkNames(String(parts[1]), isGiving: isGiving)
    return ScenarioStep.Field(name: name.lowercased(), value: String(parts[1].drop { $0 == " " }))
  }
}

/// The lines about the app's change log.
extension ScenarioParser {
  mutating func readChanges(_ words: [String]) throws {
    var changes = ScenarioSetting.Changes()
    for field in try fields(words, names: ScenarioVocabulary.log) {
      guard changes.apply(field) else {
        throw error("\"\(field.value)\" is not a value of \(field.name)")
      }
    }
    setting.changes = changes
  }

  func expectChangeLog() throws {
    guard setting.changes == nil else { return }
    throw error("the app has no change log; write \"changes\" above the first step")
  }

  /// Parses `add create task/5f1c <K1>` or `add POST /comments <K1>`.
  mutating func change(_ words: [String], _ block: ScenarioBlock) throws -> ScenarioChange {
    try expectChangeLog()
    guard words.count >= 4 else {
      throw error("a change has the form add create task/5f1c <K1> or add POST /notes <K1>")
    }
    try expectEnd(words.dropFirst(4))
    var change = ScenarioChange(
      action: try action(Array(words[1...2])), key: try name(words[3], isGiving: true))
    var index = 0
    while index < block.details.count {
      let detail = block.details[index]
      line = detail
      let word = detail.words[0]
      index += 1
      switch word {
      case "json":
        guard change.content == nil else { throw error("there is one already") }
        let read = try json(block.details, from: index - 1, isAnswer: false)
        change.content = read.template.value.text
        index = read.next
      case "mentions":
        guard detail.words.count > 1 else { throw error("mentions needs an entity") }
        for word in detail.words.dropFirst() { change.mentions.append(try entity(word)) }
      default: throw error("\"\(word)\" is not a part of a change")
      }
    }
    return change
  }

  private func action(_ words: [String]) throws -> ScenarioChange.Action {
    let operations = Change.Operation.allCases
    if let operation = operations.first(where: { "\($0)" == words[0] }) {
      return .entity(operation, try entity(words[1]))
    }
    guard words[1].first == "/" else {
      throw error("\"\(words[0])\" is neither an operation nor a method of a request")
    }
    let (method, path) = try target(words)
    guard Change.Request(method, path) != nil else {
      throw error("this is not the path of a request")
    }
    return .request(method: method, path: path)
  }

  private func entity(_ word: String) throws -> EntityReference {
    guard let entity = EntityReference(path: word) else {
      throw error("an entity has the form task/5f1c, or north/task/5f1c with its scope")
    }
    return entity
  }

  /// Parses the name of a key, such as `<K1>`; its first use defines it.
  private mutating func name(_ word: String, isGiving: Bool) throws -> String {
    try checkNames(word, isGiving: isGiving)
    guard case .name(let name)? = ScenarioName.pieces(of: word).first, name.form == nil,
      word == "<\(name.name)>"
    else { throw error("a key has the form <K1>") }
    return name.name
  }

  /// Parses the one key after a verb.
  mutating func key(_ word: String?) throws -> String {
    try expectChangeLog()
    guard let word else { throw error("expected a key such as <K1>") }
    return try name(word, isGiving: false)
  }

  /// Parses `key <K1>` of a request.
  mutating func key(of words: [String], _ earlier: String?) throws -> String {
    guard earlier == nil else { throw error("there is one already") }
    let name = try key(words.first)
    try expectEnd(words.dropFirst())
    return name
  }

  /// Parses `3`, `nothing`, or keys in order.
  mutating func changes(_ words: [String]) throws -> ScenarioChanges {
    try expectChangeLog()
    guard let first = words.first else { throw error("expected a count, keys or nothing") }
    if first == "nothing" {
      try expectEnd(words.dropFirst())
      return .count(0)
    }
    if first.first != "<" { return .count(try count(words)) }
    var keys: [String] = []
    for word in words { keys.append(try name(word, isGiving: false)) }
    return .keys(keys)
  }
}
