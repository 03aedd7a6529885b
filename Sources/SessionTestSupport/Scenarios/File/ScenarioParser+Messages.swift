/// Requests and answers, and the lines that are indented below them.
extension ScenarioParser {
  func target(
    _ words: [ScenarioWord], in line: ScenarioLine
  ) throws(ScenarioError) -> (method: String, path: String) {
    guard words.count == 2, words[1].text.first == "/" else {
      throw error(
        line, words.first?.column ?? line.words[0].text.count + 1,
        "a request has the form POST /auth/refresh")
    }
    guard ["GET", "POST", "PUT", "PATCH", "DELETE"].contains(words[0].text) else {
      throw unknown(words[0], in: line, "not a method", of: ["GET", "POST", "PUT", "DELETE"])
    }
    return (words[0].text, words[1].text)
  }

  mutating func request(
    _ words: [ScenarioWord], _ label: ScenarioWord?, _ block: ScenarioBlock
  ) throws(ScenarioError) -> ExpectedRequest {
    let line = block.head
    let label = try given(label, in: line)
    let (method, path) = try target(words, in: line)
    var request = ExpectedRequest(method: method, path: path, label: label)
    var index = 0
    while index < block.details.count {
      let detail = block.details[index]
      let (word, arguments) = (detail.words[0], Array(detail.words.dropFirst()))
      let isAuthorization = word.text == "bearer" || word.text == "basic"
      let isBody = ["json", "form"].contains(word.text)
      if isAuthorization && request.authorization != nil || isBody && request.body != nil {
        throw error(detail, word.column, "there is one already")
      }
      index += 1
      switch word.text {
      case "json":
        let read = try json(block.details, from: index - 1, isAnswer: false)
        request.body = .json(read.template)
        index = read.next
      case "query":
        request.query = (request.query ?? []) + (try query(arguments, in: detail))
      case "form":
        var pairs: [ScenarioStep.Field] = []
        let names = arguments.map { $0.text.split(separator: "=").first.map(String.init) ?? "" }
        pairs = try fields(arguments, in: detail, names: names)
        try checkNames(of: pairs, in: detail)
        request.body = .form(pairs)
      case "bearer":
        guard arguments.count == 1 else {
          throw error(detail, word.column, "bearer needs one token")
        }
        try checkNames(
          arguments[0].text, in: detail, column: arguments[0].column, isGiving: false)
        request.authorization = .bearer(arguments[0].text)
      case "key": request.key = try key(of: arguments, request.key, in: detail)
      case "basic":
        guard arguments.count == 2 else {
          throw error(detail, word.column, "basic needs an id and a secret")
        }
        request.authorization = .basic(id: arguments[0].text, secret: arguments[1].text)
      case "header": request.headers.append(try header(detail, isGiving: false))
      default:
        throw unknown(word, in: detail, "not a part of a request", of: ScenarioVocabulary.request)
      }
    }
    return request
  }

  mutating func answer(
    _ words: [ScenarioWord], _ block: ScenarioBlock
  ) throws(ScenarioError) -> ScenarioStep.Action {
    let line = block.head
    var words = words
    let label = try known(take("to", from: &words), in: line)
    guard words.count == 1, let status = Int(words[0].text), (200...599).contains(status) else {
      throw error(line, words.first?.column ?? 7, "a status must be from 200 to 599")
    }
    var answer = ScriptedAnswer(status: status)
    var hasBody = false
    var index = 0
    while index < block.details.count {
      let detail = block.details[index]
      let word = detail.words[0]
      if hasBody, word.text != "header" {
        throw error(detail, word.column, "there is one already")
      }
      index += 1
      hasBody = hasBody || word.text != "header"
      switch word.text {
      case "json":
        let read = try json(block.details, from: index - 1, isAnswer: true)
        answer.body = .json(read.template)
        index = read.next
      case "html": answer.body = .html(detail.rest)
      case "page": answer.body = .page(try page(Array(detail.words.dropFirst()), in: detail))
      case "header": answer.headers.append(try header(detail, isGiving: true))
      default:
        throw unknown(word, in: detail, "not a part of an answer", of: ScenarioVocabulary.answer)
      }
    }
    return .answer(answer, to: label)
  }

  /// Parses a page, such as `/signin forgot=/forgotten`.
  private mutating func page(
    _ words: [ScenarioWord], in line: ScenarioLine
  ) throws(ScenarioError) -> WebPage {
    guard let action = words.first, action.text.first == "/" else {
      throw error(
        line, words.first?.column ?? line.raw.count + 1,
        "a page has the form /signin forgot=/forgotten cancel=/cancelled")
    }
    let links = try fields(words.dropFirst(), in: line, names: ScenarioVocabulary.links)
    for word in words {
      try checkNames(word.text, in: line, column: word.column, isGiving: true)
    }
    return WebPage(
      title: "Sign in", form: WebPage.Form(action: action.text),
      links: Dictionary(links.map { ($0.name, $0.value) }) { first, _ in first })
  }

  /// Parses the expected query of an address; the first use of a name takes the value in the
  /// address.
  private mutating func query(
    _ words: [ScenarioWord], in line: ScenarioLine
  ) throws(ScenarioError) -> [ScenarioStep.Field] {
    let names = words.map { $0.text.split(separator: "=").first.map(String.init) ?? "" }
    let pairs = try fields(words, in: line, names: names)
    for (pair, word) in zip(pairs, words) {
      let column = word.column + pair.name.count + 1
      for case .name(let name) in ScenarioName.pieces(of: pair.value) where isNew(name) {
        guard name.form == nil, pair.value == "<\(name.name)>" else {
          throw error(
            line, column, "\(name.name) is read from the address: write <\(name.name)> alone")
        }
      }
      try checkNames(pair.value, in: line, column: column, isGiving: true)
    }
    return pairs
  }

  /// Returns whether no line above defines this name.
  private func isNew(_ name: ScenarioName) -> Bool { names[name.name] == nil }

  private mutating func header(
    _ line: ScenarioLine, isGiving: Bool
  ) throws(ScenarioError) -> ScenarioStep.Field {
    let parts = line.rest.split(separator: ":", maxSplits: 1)
    guard parts.count == 2, let name = parts.first, !name.isEmpty, !name.contains(" "),
      name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
    else { throw error(line, line.words[0].column, "a header has the form Retry-After: 7") }
    guard name.lowercased() != "authorization" else {
      throw error(line, line.words[0].column, "use bearer or basic")
    }
    try checkNames(
      String(parts[1]), in: line, column: line.raw.count - parts[1].count + 1, isGiving: isGiving)
    return ScenarioStep.Field(
      name: name.lowercased(), value: String(parts[1].drop { $0 == " " }))
  }
}
