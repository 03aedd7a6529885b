@_spi(Internals) import SessionCore
import SessionJSON
import SessionKit

/// The lines below the header.
extension ScenarioParser {
  mutating func step(_ block: ScenarioBlock) throws(ScenarioError) -> ScenarioStep {
    let line = block.head
    var words = Array(line.words.dropFirst())
    let keyword = line.words[0].text
    let isAdding = keyword == "do" && words.first?.text == "add"
    let hasDetails = ["request", "answer", "token"].contains(keyword) || isAdding
    if !hasDetails { try expectNoDetails(block) }
    var label: ScenarioWord?
    if ["do", "request"].contains(keyword) { label = take("as", from: &words) }
    var process = "app"
    if ["do", "state", "shows", "page", "received"].contains(keyword),
      let name = take("in", from: &words)
    {
      process = name.text
    }
    let action: ScenarioStep.Action
    switch keyword {
    case "at": action = .at(try duration(words, in: line, isSigned: false))
    case "until": action = .until(try duration(words, in: line, isSigned: false))
    case "clock": action = .clock(by: try duration(words, in: line, isSigned: true))
    case "network":
      action = .network(isOn: try choice(words, in: line, "on", "off"))
    case "secrets":
      action = .secrets(isLocked: try choice(words, in: line, "locked", "unlocked"))
    case "journal":
      action = .journal(isLost: try choice(words, in: line, "lost", "damaged"))
    case "do" where isAdding:
      let label = try given(label, in: line)
      action = .act(.add(try change(words, block)), label: label)
    case "do": action = try command(words, label, in: line)
    case "request": action = .request(try request(words, label, block))
    case "answer": action = try answer(words, block)
    case "lost", "silent":
      let word = take("to", from: &words)
      try expectEnd(words, in: line)
      let label = try known(word, in: line)
      action = keyword == "lost" ? .lost(to: label) : .silent(to: label)
    case "page": action = .page(try pageAct(words, in: line))
    case "token": action = try token(words, block)
    case "event", "note", "state": action = try record(keyword, words, in: line)
    case "shows":
      guard !words.isEmpty else { throw error(line, 6, "shows needs a field") }
      let fields = try fields(words, in: line, names: ScenarioVocabulary.shows)
      try checkNames(of: fields, in: line)
      action = .shows(fields)
    case "result": action = try result(words, in: line)
    case "pending": action = .pending(try count(words, in: line))
    case "cleared": action = .cleared(try count(words, in: line))
    case "received": action = .received(try count(words, in: line))
    case "news":
      try expectChangeLog(line.words[0], in: line)
      action = .news(try count(words, in: line))
    case "kill": action = .kill(try victim(words, in: line))
    case "power":
      try expectEnd(try cut(words, in: line), in: line)
      action = .powerCut
    case "change": action = try record(keyword, words, in: line)
    case "waiting": action = .waiting(try changes(words, in: line))
    case "givenUp": action = .givenUp(try changes(words, in: line))
    default: action = .stored(try items(words, in: line))
    }
    return ScenarioStep(line: line.number, process: process, action: action)
  }

  /// Removes `word NAME` from the end, and returns the name.
  func take(_ word: String, from words: inout [ScenarioWord]) -> ScenarioWord? {
    guard words.count >= 2, words[words.count - 2].text == word else { return nil }
    let name = words.removeLast()
    words.removeLast()
    return name
  }

  func expectEnd(
    _ words: some Collection<ScenarioWord>, in line: ScenarioLine
  ) throws(ScenarioError) {
    guard let word = words.first else { return }
    throw error(line, word.column, "\"\(word.text)\" is one argument too many")
  }

  mutating func given(
    _ label: ScenarioWord?, in line: ScenarioLine
  ) throws(ScenarioError) -> String? {
    guard let label else { return nil }
    guard !["ok", "error"].contains(label.text) else {
      throw error(line, label.column, "\"\(label.text)\" is not a name")
    }
    if let earlier = labels.updateValue(line.number, forKey: label.text) {
      throw error(line, label.column, "\"\(label.text)\" is already defined in line \(earlier)")
    }
    return label.text
  }

  func known(
    _ label: ScenarioWord?, in line: ScenarioLine
  ) throws(ScenarioError) -> String? {
    guard let label else { return nil }
    guard labels[label.text] != nil else {
      throw unknown(label, in: line, "not a label of a line above", of: Array(labels.keys))
    }
    return label.text
  }

  private func duration(
    _ words: [ScenarioWord], in line: ScenarioLine, isSigned: Bool
  ) throws(ScenarioError) -> Int64 {
    guard let word = words.first else {
      throw error(line, line.raw.count + 1, "expected a duration such as 55m1s")
    }
    try expectEnd(words.dropFirst(), in: line)
    let hasSign = word.text.first == "+" || word.text.first == "-"
    guard hasSign == isSigned, let duration = ScenarioDuration.milliseconds(word.text) else {
      throw error(
        line, word.column,
        "\"\(word.text)\" does not have the form \(isSigned ? "+9h or -3h" : "55m1s")")
    }
    return duration
  }

  func count(
    _ words: [ScenarioWord], in line: ScenarioLine
  ) throws(ScenarioError) -> Int {
    guard let word = words.first, let count = Int(word.text), (0...9_999).contains(count) else {
      throw error(line, words.first?.column ?? line.raw.count + 1, "expected a count")
    }
    try expectEnd(words.dropFirst(), in: line)
    return count
  }

  private func choice(
    _ words: [ScenarioWord], in line: ScenarioLine, _ yes: String, _ no: String
  ) throws(ScenarioError) -> Bool {
    guard let word = words.first else { throw error(line, 1, "expected \(yes) or \(no)") }
    try expectEnd(words.dropFirst(), in: line)
    guard word.text == yes || word.text == no else {
      throw unknown(word, in: line, "neither \(yes) nor \(no)", of: [yes, no])
    }
    return word.text == yes
  }

  private mutating func command(
    _ words: [ScenarioWord], _ label: ScenarioWord?, in line: ScenarioLine
  ) throws(ScenarioError) -> ScenarioStep.Action {
    let label = try given(label, in: line)
    guard let verb = words.first else { throw error(line, 3, "expected a command") }
    let arguments = Array(words.dropFirst())
    var most = 0
    let command: ScenarioStep.Command
    switch verb.text {
    case "open": command = .open
    case "close": command = .close
    case "refresh": command = .refresh
    case "refreshIfNeeded": command = .refreshIfNeeded
    case "unlock": command = .unlock
    case "foreground": command = .foreground
    case "use": command = .use
    case "logout":
      most = arguments.first?.text == "discarding" ? 1 : 0
      command = .logout(isDiscarding: most == 1)
    case "clearError": command = .clearError
    case "drain", "sync":
      try expectChangeLog(verb, in: line)
      command = verb.text == "drain" ? .drain : .sync
    case "discard":
      most = 1
      command = .discard(key: try key(arguments.first, after: verb, in: line))
    case "call":
      let isPlain = arguments.count > 2 && arguments[2].text == "plain"
      most = isPlain ? 3 : 2
      let (method, path) = try target(isPlain ? Array(arguments.prefix(2)) : arguments, in: line)
      command = .call(method: method, path: path, isPlain: isPlain)
    case "adopt":
      most = 2
      guard let access = arguments.first else {
        throw error(line, verb.column, "adopt needs a token")
      }
      for token in arguments.prefix(2) {
        try checkNames(token.text, in: line, column: token.column, isGiving: true)
      }
      command = .adopt(access: access.text, refresh: arguments.dropFirst().first?.text)
    case "login", "register":
      most = 1
      let user = try user(arguments.first, of: verb, in: line)
      command = verb.text == "login" ? .login(user) : .register(user)
    case "social":
      most = 2
      guard arguments.count >= 2 else {
        throw error(line, verb.column, "social needs the other service and its token")
      }
      try checkNames(
        arguments[1].text, in: line, column: arguments[1].column, isGiving: true)
      command = .social(provider: arguments[0].text, token: arguments[1].text)
    case "page", "silently":
      try expectPages(verb, in: line)
      command = verb.text == "page" ? .page : .silently
    case "redirect":
      try expectPages(verb, in: line)
      most = 1
      guard let address = arguments.first, address.text.contains("://") else {
        throw error(
          line, verb.column, "redirect needs an address, such as app://auth?code=<C1>&state=<S1>")
      }
      try checkNames(address.text, in: line, column: address.column, isGiving: true)
      command = .redirect(address.text)
    case "switch":
      most = 3
      guard let role = arguments.first else {
        throw error(line, verb.column, "switch needs a role")
      }
      command = .switchContext(
        role: role.text, school: arguments.count > 1 ? arguments[1].text : nil,
        unit: arguments.count > 2 ? arguments[2].text : nil)
    default: throw unknown(verb, in: line, "not a command", of: ScenarioVocabulary.commands)
    }
    try expectEnd(arguments.dropFirst(most), in: line)
    return .act(command, label: label)
  }

  /// Returns the user whom a word names; throws if there is none.
  private func user(
    _ word: ScenarioWord?, of verb: ScenarioWord, in line: ScenarioLine
  ) throws(ScenarioError) -> String {
    guard let word else { throw error(line, verb.column, "\(verb.text) needs a user") }
    guard setting.users[word.text] != nil else {
      throw unknown(word, in: line, "not a user", of: Array(setting.users.keys))
    }
    return word.text
  }

  private func expectPages(
    _ word: ScenarioWord, in line: ScenarioLine
  ) throws(ScenarioError) {
    guard setting.app == "B2C" else {
      throw error(line, word.column, "\(setting.app) has no sign-in page; B2C has one")
    }
  }

  private func pageAct(
    _ words: [ScenarioWord], in line: ScenarioLine
  ) throws(ScenarioError) -> ScenarioStep.PageAct {
    try expectPages(line.words[0], in: line)
    guard let verb = words.first else {
      throw error(line, line.raw.count + 1, "expected an action of the user")
    }
    var most = 1
    let act: ScenarioStep.PageAct
    switch verb.text {
    case "types":
      most = 2
      act = .types(try user(words.dropFirst().first, of: verb, in: line))
    case "forgets": act = .forgets
    case "cancels": act = .cancels
    case "leaves": act = .leaves
    default:
      throw unknown(
        verb, in: line, "not an action on a page", of: ScenarioVocabulary.acts)
    }
    try expectEnd(words.dropFirst(most), in: line)
    return act
  }

  private mutating func record(
    _ keyword: String, _ words: [ScenarioWord], in line: ScenarioLine
  ) throws(ScenarioError) -> ScenarioStep.Action {
    let kinds =
      switch keyword {
      case "event": ScenarioVocabulary.events
      case "note": ScenarioVocabulary.notes
      case "change": ScenarioVocabulary.changes
      default: ScenarioVocabulary.states
      }
    guard let kind = words.first else { throw error(line, line.raw.count + 1, "expected a kind") }
    guard let names = kinds[kind.text] else {
      throw unknown(kind, in: line, "not a known \(keyword)", of: Array(kinds.keys))
    }
    var words = Array(words.dropFirst())
    var times = 1
    if keyword == "event", let last = words.last, last.text.first == "x",
      let count = Int(last.text.dropFirst())
    {
      guard (2...Scenario.mostEvents).contains(count) else {
        throw error(line, last.column, "the count must be from x2 to x\(Scenario.mostEvents)")
      }
      times = count
      words.removeLast()
    }
    let fields = try fields(words, in: line, names: names)
    switch keyword {
    case "event": return .event(kind.text, fields, times: times)
    case "note": return .note(kind.text, fields)
    case "change":
      try expectChangeLog(line.words[0], in: line)
      try checkNames(of: fields, in: line)
      return .change(kind.text, fields)
    default: return .state(kind.text, fields)
    }
  }

  mutating func checkNames(
    of fields: [ScenarioStep.Field], in line: ScenarioLine
  ) throws(ScenarioError) {
    for field in fields {
      let column = line.words.first { $0.text.hasPrefix(field.name + "=") }?.column ?? 1
      try checkNames(
        field.value, in: line, column: column + field.name.count + 1, isGiving: false)
    }
  }

  private mutating func token(
    _ words: [ScenarioWord], _ block: ScenarioBlock
  ) throws(ScenarioError) -> ScenarioStep.Action {
    let line = block.head
    guard let word = words.first, let name = ScenarioName(word.text), name.form == nil else {
      throw error(
        line, words.first?.column ?? 6, "a token has the form A2 3600s, with its claims as json")
    }
    if let earlier = names[name.name] {
      throw error(line, word.column, "\(name.name) is already defined in line \(earlier)")
    }
    let life = words.count > 1 ? try duration(Array(words[1...]), in: line, isSigned: false) : nil
    guard let detail = block.details.first, detail.words[0].text == "json" else {
      throw error(line, word.column, "a token has the form A2 3600s, with its claims as json")
    }
    let read = try json(block.details, from: 0, isAnswer: true)
    guard case .object(let claims) = read.template.value, !claims.isEmpty,
      read.next == block.details.count
    else {
      throw error(detail, detail.indent + 1, "claims must be one JSON object")
    }
    names[name.name] = line.number
    return .token(name.name, life: life, read.template)
  }

  private mutating func result(
    _ words: [ScenarioWord], in line: ScenarioLine
  ) throws(ScenarioError) -> ScenarioStep.Action {
    var words = words[...]
    var label: String?
    if let first = words.first, first.text != "ok", first.text != "error", words.count > 1 {
      label = try known(first, in: line)
      words = words.dropFirst()
    }
    guard let end = words.first else { throw error(line, 7, "expected ok or error") }
    words = words.dropFirst()
    switch end.text {
    case "ok":
      let fields = try fields(words, in: line, names: ScenarioVocabulary.results)
      try checkNames(of: fields, in: line)
      return .result(label: label, .ok, fields)
    case "error":
      guard let name = words.first else {
        throw error(line, end.column, "expected the name of an error")
      }
      guard ScenarioVocabulary.errors.contains(name.text) else {
        throw unknown(name, in: line, "not an error", of: ScenarioVocabulary.errors)
      }
      let fields = try fields(
        words.dropFirst(), in: line, names: ScenarioVocabulary.errorDetails)
      return .result(label: label, .error(name.text), fields)
    default: throw unknown(end, in: line, "neither ok nor error", of: ["ok", "error"])
    }
  }

  private func items(
    _ words: [ScenarioWord], in line: ScenarioLine
  ) throws(ScenarioError) -> Set<SecretItem> {
    guard !words.isEmpty else { throw error(line, 7, "expected items or nothing") }
    var items: Set<SecretItem> = []
    for word in words {
      guard ScenarioVocabulary.items.contains(word.text) else {
        throw unknown(word, in: line, "not an item", of: ScenarioVocabulary.items)
      }
      if word.text == "nothing", words.count > 1 {
        throw error(line, word.column, "nothing excludes other items")
      }
      if let item = SecretItem(word: word.text) { items.insert(item) }
    }
    return items
  }
}
