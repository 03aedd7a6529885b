@_spi(Internals) import SessionChanges
@_spi(Internals) import SessionCore
import SessionJSON
import SessionKit

/// The lines about the app's change log.
extension ScenarioParser {
  mutating func readChanges(
    _ words: [ScenarioWord], in line: ScenarioLine
  ) throws(ScenarioError) {
    var changes = ScenarioSetting.Changes()
    for field in try fields(words, in: line, names: ScenarioVocabulary.log) {
      guard changes.apply(field) else {
        throw error(line, 9, "\"\(field.value)\" is not a value of \(field.name)")
      }
    }
    setting.changes = changes
  }

  func expectChangeLog(
    _ word: ScenarioWord, in line: ScenarioLine
  ) throws(ScenarioError) {
    guard setting.changes == nil else { return }
    throw error(
      line, word.column, "the app has no change log; write \"changes\" above the first step")
  }

  /// Parses `add create task/5f1c <K1>` or `add POST /comments <K1>`.
  mutating func change(
    _ words: [ScenarioWord], _ block: ScenarioBlock
  ) throws(ScenarioError) -> ScenarioChange {
    let line = block.head
    try expectChangeLog(words[0], in: line)
    guard words.count >= 4 else {
      throw error(
        line, words[0].column,
        "a change has the form add create task/5f1c <K1> or add POST /notes <K1>")
    }
    try expectEnd(words.dropFirst(4), in: line)
    var change = ScenarioChange(
      action: try action(Array(words[1...2]), in: line),
      key: try name(words[3], in: line, isGiving: true))
    var index = 0
    while index < block.details.count {
      let detail = block.details[index]
      let word = detail.words[0]
      index += 1
      switch word.text {
      case "json":
        guard change.content == nil else {
          throw error(detail, word.column, "there is one already")
        }
        let read = try json(block.details, from: index - 1, isAnswer: false)
        change.content = read.template.value.text
        index = read.next
      case "mentions":
        guard detail.words.count > 1 else {
          throw error(detail, word.column, "mentions needs an entity")
        }
        for word in detail.words.dropFirst() {
          change.mentions.append(try entity(word, in: detail))
        }
      default:
        throw unknown(word, in: detail, "not a part of a change", of: ScenarioVocabulary.change)
      }
    }
    return change
  }

  private func action(
    _ words: [ScenarioWord], in line: ScenarioLine
  ) throws(ScenarioError) -> ScenarioChange.Action {
    let operations = Change.Operation.allCases
    if let operation = operations.first(where: { "\($0)" == words[0].text }) {
      return .entity(operation, try entity(words[1], in: line))
    }
    guard words[1].text.first == "/" else {
      throw unknown(
        words[0], in: line, "neither an operation nor a method of a request",
        of: operations.map { "\($0)" })
    }
    let (method, path) = try target(words, in: line)
    guard Change.Request(method, path) != nil else {
      throw error(line, words[1].column, "this is not the path of a request")
    }
    return .request(method: method, path: path)
  }

  private func entity(
    _ word: ScenarioWord, in line: ScenarioLine
  ) throws(ScenarioError) -> EntityReference {
    guard let entity = EntityReference(path: word.text) else {
      throw error(
        line, word.column, "an entity has the form task/5f1c, or north/task/5f1c with its scope")
    }
    return entity
  }

  /// Parses the name of a key, such as `<K1>`; its first use defines it.
  private mutating func name(
    _ word: ScenarioWord, in line: ScenarioLine, isGiving: Bool
  ) throws(ScenarioError) -> String {
    try checkNames(word.text, in: line, column: word.column, isGiving: isGiving)
    guard case .name(let name)? = ScenarioName.pieces(of: word.text).first, name.form == nil,
      word.text == "<\(name.name)>"
    else { throw error(line, word.column, "a key has the form <K1>") }
    return name.name
  }

  /// Parses the one key after a verb.
  mutating func key(
    _ word: ScenarioWord?, after verb: ScenarioWord, in line: ScenarioLine
  ) throws(ScenarioError) -> String {
    try expectChangeLog(verb, in: line)
    guard let word else { throw error(line, verb.column, "expected a key such as <K1>") }
    return try name(word, in: line, isGiving: false)
  }

  /// Parses `key <K1>` of a request.
  mutating func key(
    of words: [ScenarioWord], _ earlier: String?, in line: ScenarioLine
  ) throws(ScenarioError) -> String {
    guard earlier == nil else { throw error(line, line.words[0].column, "there is one already") }
    let name = try key(words.first, after: line.words[0], in: line)
    try expectEnd(words.dropFirst(), in: line)
    return name
  }

  /// Parses `3`, `nothing`, or keys in order.
  mutating func changes(
    _ words: [ScenarioWord], in line: ScenarioLine
  ) throws(ScenarioError) -> ScenarioChanges {
    try expectChangeLog(line.words[0], in: line)
    guard let first = words.first else {
      throw error(line, line.raw.count + 1, "expected a count, keys or nothing")
    }
    if first.text == "nothing" {
      try expectEnd(words.dropFirst(), in: line)
      return .count(0)
    }
    if first.text.first != "<" { return .count(try count(words, in: line)) }
    var keys: [String] = []
    for word in words { keys.append(try name(word, in: line, isGiving: false)) }
    return .keys(keys)
  }

  /// Parses the name of the process to kill; `app` if there is none.
  func victim(_ words: [ScenarioWord], in line: ScenarioLine) throws(ScenarioError) -> String {
    try expectEnd(words.dropFirst(), in: line)
    return words.first?.text ?? "app"
  }

  /// Returns the words after `power cut`.
  func cut(
    _ words: [ScenarioWord], in line: ScenarioLine
  ) throws(ScenarioError) -> ArraySlice<ScenarioWord> {
    guard let word = words.first, word.text == "cut" else {
      throw error(line, words.first?.column ?? line.raw.count + 1, "the only form is \"power cut\"")
    }
    return words.dropFirst()
  }
}
