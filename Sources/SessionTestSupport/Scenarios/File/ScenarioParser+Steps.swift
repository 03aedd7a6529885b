@_spi(Internals) import SessionCore
import SessionJSON
import SessionKit

/// The lines below the header.
extension ScenarioParser {
  mutating func step(_ block: ScenarioBlock) throws -> ScenarioStep {
    let head = line
    var words = Array(head.words.dropFirst())
    let keyword = head.words[0]
    let isAdding = keyword == "do" && words.first == "add"
    let hasDetails = ["request", "answer", "token"].contains(keyword) || isAdding
    if !hasDetails { try expectNoDetails(block) }
    var label: String?
    if ["do", "request"].contains(keyword) { label = take("as", from: &words) }
    var process = "app"
    if ["do", "state", "shows", "page", "received"].contains(keyword),
      let name = take("in", from: &words)
    {
      process = name
    }
    let action: ScenarioStep.Action
    switch keyword {
    case "at": action = .at(try duration(words, isSigned: false))
    case "until": action = .until(try duration(words, isSigned: false))
    case "clock": action = .clock(by: try duration(words, isSigned: true))
    case "network": action = .network(isOn: try choice(words, "on", "off"))
    case "secrets": action = .secrets(isLocked: try choice(words, "locked", "unlocked"))
    case "journal": action = .journal(isLost: try choice(words, "lost", "damaged"))
    case "do" where isAdding: action = .act(.add(try change(words, block)), label: try given(label))
    case "do": action = try command(words, label)
    case "request": action = .request(try request(words, label, block))
    case "answer": action = try answer(words, block)
    case "lost", "silent":
      let word = take("to", from: &words)
      try expectEnd(words)
      let label = try known(word)
      action = keyword == "lost" ? .lost(to: label) : .silent(to: label)
    case "page": action = .page(try pageAct(words))
    case "token": action = try token(words, block)
    case "event", "note", "state": action = try record(keyword, words)
    case "shows":
      guard !words.isEmpty else { throw error("shows needs a field") }
      let fields = try fields(words, names: ScenarioVocabulary.shows)
      try checkNames(of: fields)
      action = .shows(fields)
    case "result": action = try result(words)
    case "pending": action = .pending(try count(words))
    case "cleared": action = .cleared(try count(words))
    case "received": action = .received(try count(words))
    case "news":
      try expectChangeLog()
      action = .news(try count(words))
    case "kill":
      try expectEnd(words.dropFirst())
      action = .kill(words.first ?? "app")
    case "power":
      guard words == ["cut"] else { throw error("the only form is \"power cut\"") }
      action = .powerCut
    case "change": action = try record(keyword, words)
    case "waiting": action = .waiting(try changes(words))
    case "givenUp": action = .givenUp(try changes(words))
    default: action = .stored(try items(words))
    }
    return ScenarioStep(line: head.number, process: process, action: action)
  }

  /// Removes `word NAME` from the end, and returns the name.
  func take(_ word: String, from words: inout [String]) -> String? {
    guard words.count >= 2, words[words.count - 2] == word else { return nil }
    let name = words.removeLast()
    words.removeLast()
    return name
  }

  func expectEnd(_ words: some Collection<String>) throws {
    guard let word = words.first else { return }
    throw error("\"\(word)\" is one argument too many")
  }

  mutating func given(_ label: String?) throws -> String? {
    guard let label else { return nil }
    guard !["ok", "error"].contains(label) else { throw error("\"\(label)\" is not a name") }
    if let earlier = labels.updateValue(line.number, forKey: label) {
      throw error("\"\(label)\" is already defined in line \(earlier)")
    }
    return label
  }

  func known(_ label: String?) throws -> String? {
    guard let label else { return nil }
    guard labels[label] != nil else { throw error("\"\(label)\" is not a label of a line above") }
    return label
  }

  private func duration(_ words: [String], isSigned: Bool) throws -> Int64 {
    guard let word = words.first else { throw error("expected a duration such as 55m1s") }
    try expectEnd(words.dropFirst())
    let hasSign = word.first == "+" || word.first == "-"
    guard hasSign == isSigned, let duration = ScenarioDuration.milliseconds(word) else {
      throw error("\"\(word)\" does not have the form \(isSigned ? "+9h or -3h" : "55m1s")")
    }
    return duration
  }

  func count(_ words: [String]) throws -> Int {
    guard let word = words.first, let count = Int(word), (0...9_999).contains(count) else {
      throw error("expected a count")
    }
    try expectEnd(words.dropFirst())
    return count
  }

  private func choice(_ words: [String], _ yes: String, _ no: String) throws -> Bool {
    guard let word = words.first else { throw error("expected \(yes) or \(no)") }
    try expectEnd(words.dropFirst())
    guard word == yes || word == no else { throw error("\"\(word)\" is neither \(yes) nor \(no)") }
    return word == yes
  }

  private mutating func command(_ words: [String], _ label: String?) throws -> ScenarioStep.Action {
    let label = try given(label)
    guard let verb = words.first else { throw error("expected a command") }
    let arguments = Array(words.dropFirst())
    var most = 0
    let command: ScenarioStep.Command
    switch verb {
    case "open": command = .open
    case "close": command = .close
    case "refresh": command = .refresh
    case "refreshIfNeeded": command = .refreshIfNeeded
    case "unlock": command = .unlock
    case "foreground": command = .foreground
    case "use": command = .use
    case "logout":
      most = arguments.first == "discarding" ? 1 : 0
      command = .logout(isDiscarding: most == 1)
    case "clearError": command = .clearError
    case "drain", "sync":
      try expectChangeLog()
      command = verb == "drain" ? .drain : .sync
    case "discard":
      most = 1
      command = .discard(key: try key(arguments.first))
    case "call":
      let isPlain = arguments.count > 2 && arguments[2] == "plain"
      most = isPlain ? 3 : 2
      let (method, path) = try target(isPlain ? Array(arguments.prefix(2)) : arguments)
      command = .call(method: method, path: path, isPlain: isPlain)
    case "adopt":
      most = 2
      guard let access = arguments.first else { throw error("adopt needs a token") }
      for token in arguments.prefix(2) { try checkNames(token, isGiving: true) }
      command = .adopt(access: access, refresh: arguments.dropFirst().first)
    case "login", "register":
      most = 1
      let user = try user(arguments.first, of: verb)
      command = verb == "login" ? .login(user) : .register(user)
    case "social":
      most = 2
      guard arguments.count >= 2 else {
        throw error("social needs the other service and its token")
      }
      try checkNames(arguments[1], isGiving: true)
      command = .social(provider: arguments[0], token: arguments[1])
    case "page", "silently":
      try expectPages()
      command = verb == "page" ? .page : .silently
    case "redirect":
      try expectPages()
      most = 1
      guard let address = arguments.first, address.contains("://") else {
        throw error("redirect needs an address, such as app://auth?code=<C1>&state=<S1>")
      }
      try checkNames(address, isGiving: true)
      command = .redirect(address)
    case "switch":
      most = 3
      guard let role = arguments.first else { throw error("switch needs a role") }
      command = .switchContext(
        role: role, school: arguments.count > 1 ? arguments[1] : nil,
        unit: arguments.count > 2 ? arguments[2] : nil)
    default: throw error("\"\(verb)\" is not a command")
    }
    try expectEnd(arguments.dropFirst(most))
    return .act(command, label: label)
  }

  /// Returns the user whom a word names; throws if there is none.
  private func user(_ word: String?, of verb: String) throws -> String {
    guard let word else { throw error("\(verb) needs a user") }
    guard setting.users[word] != nil else { throw error("\"\(word)\" is not a user") }
    return word
  }

  private func expectPages() throws {
    guard setting.app == "B2C" else {
      throw error("\(setting.app) has no sign-in page; B2C has one")
    }
  }

  private func pageAct(_ words: [String]) throws -> ScenarioStep.PageAct {
    try expectPages()
    guard let verb = words.first else { throw error("expected an action of the user") }
    var most = 1
    let act: ScenarioStep.PageAct
    switch verb {
    case "types":
      most = 2
      act = .types(try user(words.dropFirst().first, of: verb))
    case "forgets": act = .forgets
    case "cancels": act = .cancels
    case "leaves": act = .leaves
    default: throw error("\"\(verb)\" is not an action on a page")
    }
    try expectEnd(words.dropFirst(most))
    return act
  }

  private mutating func record(_ keyword: String, _ words: [String]) throws -> ScenarioStep.Action {
    let kinds =
      switch keyword {
      case "event": ScenarioVocabulary.events
      case "note": ScenarioVocabulary.notes
      case "change": ScenarioVocabulary.changes
      default: ScenarioVocabulary.states
      }
    guard let kind = words.first else { throw error("expected a kind") }
    guard let names = kinds[kind] else { throw error("\"\(kind)\" is not a known \(keyword)") }
    var words = Array(words.dropFirst())
    var times = 1
    if keyword == "event", let last = words.last, last.first == "x",
      let count = Int(last.dropFirst())
    {
      guard (2...Scenario.mostEvents).contains(count) else {
        throw error("the count must be from x2 to x\(Scenario.mostEvents)")
      }
      times = count
      words.removeLast()
    }
    let fields = try fields(words, names: names)
    switch keyword {
    case "event": return .event(kind, fields, times: times)
    case "note": return .note(kind, fields)
    case "change":
      try expectChangeLog()
      try checkNames(of: fields)
      return .change(kind, fields)
    default: return .state(kind, fields)
    }
  }

  mutating func checkNames(of fields: [ScenarioStep.Field]) throws {
    for field in fields { try checkNames(field.value, isGiving: false) }
  }

  private mutating func token(_ words: [String], _ block: ScenarioBlock) throws
    -> ScenarioStep.Action
  {
    guard let word = words.first, let name = ScenarioName(word), name.form == nil else {
      throw error("a token has the form A2 3600s, with its claims as json")
    }
    if let earlier = names[name.name] {
      throw error("\(name.name) is already defined in line \(earlier)")
    }
    let life = words.count > 1 ? try duration(Array(words[1...]), isSigned: false) : nil
    guard let detail = block.details.first, detail.words[0] == "json" else {
      throw error("a token has the form A2 3600s, with its claims as json")
    }
    let read = try json(block.details, from: 0, isAnswer: true)
    guard case .object(let claims) = read.template.value, !claims.isEmpty,
      read.next == block.details.count
    else { throw error("claims must be one JSON object") }
    names[name.name] = line.number
    return .token(name.name, life: life, read.template)
  }

  private mutating func result(_ words: [String]) throws -> ScenarioStep.Action {
    var words = words[...]
    var label: String?
    if let first = words.first, first != "ok", first != "error", words.count > 1 {
      label = try known(first)
      words = words.dropFirst()
    }
    guard let end = words.first else { throw error("expected ok or error") }
    words = words.dropFirst()
    switch end {
    case "ok":
      let fields = try fields(words, names: ScenarioVocabulary.results)
      try checkNames(of: fields)
      return .result(label: label, .ok, fields)
    case "error":
      guard let name = words.first else { throw error("expected the name of an error") }
      guard ScenarioVocabulary.errors.contains(name) else {
        throw error("\"\(name)\" is not an error")
      }
      let fields = try fields(words.dropFirst(), names: ScenarioVocabulary.errorDetails)
      return .result(label: label, .error(name), fields)
    default: throw error("\"\(end)\" is neither ok nor error")
    }
  }

  private func items(_ words: [String]) throws -> Set<SecretItem> {
    guard !words.isEmpty else { throw error("expected items or nothing") }
    var items: Set<SecretItem> = []
    for word in words {
      guard ScenarioVocabulary.items.contains(word) else {
        throw error("\"\(word)\" is not an item")
      }
      if word == "nothing", words.count > 1 { throw error("nothing excludes other items") }
      if let item = SecretItem(word: word) { items.insert(item) }
    }
    return items
  }
}
