@_spi(Internals) import SessionCore
import SessionJSON
import SessionKit

/// A parser of scenario files; it reads a file in one pass, and continues after an error.
struct ScenarioParser {
  let file: String
  private let text: String
  private(set) var errors: [ScenarioError] = []
  var setting = ScenarioSetting()
  private var title: String?
  private var requirements: [String] = []
  private var steps: [ScenarioStep] = []
  /// The lines in which tokens were defined, by name.
  var names: [String: Int] = [:]
  /// The lines in which labels of commands and requests were defined.
  var labels: [String: Int] = [:]

  init(_ text: String, file: String) {
    self.text = text
    self.file = file
  }

  mutating func parse() throws(ScenarioErrors) -> Scenario {
    for block in blocks() {
      guard errors.count < ScenarioErrors.limit else { break }
      do throws(ScenarioError) {
        for line in [block.head] + block.details {
          if let column = line.openQuote, !line.isJSON {
            throw error(line, column, "this quote is not closed")
          }
        }
        try read(block)
      } catch {
        errors.append(error)
      }
    }
    if errors.isEmpty { checkWhole() }
    guard errors.isEmpty else { throw ScenarioErrors(errors: errors) }
    return Scenario(
      file: file, title: title ?? "", requirements: requirements, setting: setting, steps: steps)
  }

  private mutating func blocks() -> [ScenarioBlock] {
    var blocks: [ScenarioBlock] = []
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, raw) in lines.enumerated() {
      guard let line = ScenarioLine(raw, number: index + 1) else { continue }
      if raw.contains("\t") {
        errors.append(error(line, 1, "a line must not contain a tab; indent by two spaces"))
      } else if line.indent == 0 {
        blocks.append(ScenarioBlock(head: line))
      } else if blocks.isEmpty {
        errors.append(error(line, line.indent + 1, "no line is above this indented line"))
      } else {
        blocks[blocks.count - 1].details.append(line)
      }
    }
    return blocks
  }

  private mutating func checkWhole() {
    func missing(_ word: String) -> ScenarioError {
      ScenarioError(file: file, line: 1, column: 1, problem: "there is no \(word) line")
    }
    if title == nil { errors.append(missing("scenario")) }
    if requirements.isEmpty { errors.append(missing("proves")) }
    if setting.app.isEmpty { errors.append(missing("app")) }
    if steps.isEmpty { errors.append(missing("do")) }
  }

  private mutating func read(_ block: ScenarioBlock) throws(ScenarioError) {
    let word = block.head.words[0]
    if ScenarioVocabulary.header.contains(word.text) {
      guard steps.isEmpty else {
        throw error(
          block.head, word.column, "\"\(word.text)\" must be above the first step")
      }
      try readHeader(block)
    } else if ScenarioVocabulary.steps.contains(word.text) {
      steps.append(try step(block))
    } else {
      throw unknown(
        word, in: block.head, "not a step",
        of: ScenarioVocabulary.steps + ScenarioVocabulary.header)
    }
  }

  private mutating func readHeader(_ block: ScenarioBlock) throws(ScenarioError) {
    let line = block.head
    let arguments = Array(line.words.dropFirst())
    let word = line.words[0].text
    guard !arguments.isEmpty || word == "changes" else {
      throw error(line, line.raw.count + 1, "\"\(word)\" needs an argument")
    }
    if word != "app", word != "known" { try expectNoDetails(block) }
    switch word {
    case "scenario":
      guard title == nil else { throw error(line, 1, "a file must contain only one scenario") }
      title = line.rest
    case "proves":
      for argument in arguments {
        guard argument.text.wholeMatch(of: /[A-Z]{3}-[0-9]{1,2}/) != nil else {
          throw error(
            line, argument.column, "\"\(argument.text)\" is not a requirement such as REF-3")
        }
        requirements.append(argument.text)
      }
    case "app": try readApp(block)
    case "policy":
      for field in try fields(arguments, in: line, names: ScenarioVocabulary.policy) {
        var policy = SessionPolicy.production
        guard ScenarioSetting.apply(field, to: &policy) else {
          throw error(line, 8, "\"\(field.value)\" is not a value of \(field.name)")
        }
        setting.policy.append(field)
      }
    case "start":
      guard arguments.count == 1, let time = Timestamp(arguments[0].text) else {
        throw error(line, arguments[0].column, "a start has the form 2026-11-21T08:00:00Z")
      }
      setting.start = time
    case "user":
      guard arguments.count == 3 else {
        throw error(line, arguments[0].column, "a user needs a name, a user name and a password")
      }
      setting.users[arguments[0].text] = ScenarioUser(
        name: arguments[1].text, password: arguments[2].text)
    case "changes": try readChanges(arguments, in: line)
    default: try readKnown(block)
    }
  }

  private mutating func readApp(_ block: ScenarioBlock) throws(ScenarioError) {
    let word = block.head.words[1]
    guard let options = ScenarioVocabulary.apps[word.text], block.head.words.count == 2 else {
      throw unknown(word, in: block.head, "not an app", of: Array(ScenarioVocabulary.apps.keys))
    }
    setting.app = word.text
    for line in block.details {
      let (option, arguments) = (line.words[0], Array(line.words.dropFirst()))
      guard options.contains(option.text) else {
        throw unknown(option, in: line, "not a setting of \(word.text)", of: options)
      }
      guard let first = arguments.first else {
        throw error(line, option.column, "\"\(option.text)\" needs an argument")
      }
      switch option.text {
      case "environment":
        guard ScenarioVocabulary.environments.contains(first.text) else {
          throw unknown(
            first, in: line, "not an environment", of: ScenarioVocabulary.environments)
        }
        setting.environment = first.text
      case "client": setting.client = try client(arguments, in: line)
      case "scope": setting.scope = first.text
      case "tokens":
        guard ScenarioVocabulary.owners.contains(first.text) else {
          throw unknown(first, in: line, "not an owner of tokens", of: ScenarioVocabulary.owners)
        }
        setting.isOwned = first.text == "provider"
      default: setting.revocation = first.text
      }
    }
  }

  private func client(
    _ words: [ScenarioWord], in line: ScenarioLine
  ) throws(ScenarioError) -> ScenarioSetting.Client {
    var client = ScenarioSetting.Client(id: words[0].text)
    guard words.count > 1 else { return client }
    guard words.count == 3, ["form", "basic"].contains(words[1].text) else {
      throw error(
        line, words[1].column, "a client has the form ID, ID form SECRET, or ID basic SECRET")
    }
    client.isBasic = words[1].text == "basic"
    client.secret = words[2].text
    return client
  }

  private mutating func readKnown(_ block: ScenarioBlock) throws(ScenarioError) {
    let line = block.head
    guard line.words.map(\.text) == ["known", "session"], let detail = block.details.first,
      detail.words[0].text == "json"
    else {
      throw error(line, 1, "the only form is \"known session\", with the answer's json below it")
    }
    guard !setting.isOwned else {
      throw error(line, 1, "if the provider keeps the tokens, a sign-in begins on its page")
    }
    setting.known = (try json(block.details, from: 0, isAnswer: true).template, line.number)
  }
}

extension ScenarioLine {
  /// Whether the line may be part of a JSON text, in which quotes are not checked.
  fileprivate var isJSON: Bool { indent > 2 || words[0].text == "json" }
}

// Functions that all readers of lines need.
extension ScenarioParser {
  func error(_ line: ScenarioLine, _ column: Int, _ problem: String) -> ScenarioError {
    ScenarioError(file: file, line: line.number, column: column, problem: problem)
  }

  func unknown(
    _ word: ScenarioWord, in line: ScenarioLine, _ what: String, of words: [String]
  ) -> ScenarioError {
    error(
      line, word.column,
      "\"\(word.text)\" is \(what); these are: \(words.sorted().joined(separator: ", "))")
  }

  func expectNoDetails(_ block: ScenarioBlock) throws(ScenarioError) {
    guard let detail = block.details.first else { return }
    throw error(
      detail, detail.indent + 1, "no line may be indented below \"\(block.head.words[0].text)\"")
  }

  /// Parses `name=value` words.
  func fields(
    _ words: some Sequence<ScenarioWord>, in line: ScenarioLine, names: [String]
  ) throws(ScenarioError) -> [ScenarioStep.Field] {
    var fields: [ScenarioStep.Field] = []
    for word in words {
      let pair = word.text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2 else {
        throw error(line, word.column, "\"\(word.text)\" does not have the form name=value")
      }
      let name = ScenarioWord(text: String(pair[0]), column: word.column)
      guard names.contains(name.text) else {
        throw unknown(name, in: line, "not a field of this line", of: names)
      }
      guard !fields.contains(where: { $0.name == name.text }) else {
        throw error(line, word.column, "\"\(name.text)\" occurs twice")
      }
      fields.append(ScenarioStep.Field(name: name.text, value: String(pair[1])))
    }
    return fields
  }

  /// Parses the JSON text that begins in a detail and continues in the lines that are indented
  /// deeper.
  mutating func json(
    _ details: [ScenarioLine], from index: Int, isAnswer: Bool
  ) throws(ScenarioError) -> (template: JSONTemplate, next: Int) {
    let first = details[index]
    var next = index + 1
    while next < details.count, details[next].indent > first.indent { next += 1 }
    let lines = details[index..<next]
    let text = ([first.rest] + lines.dropFirst().map(\.raw)).joined(separator: "\n")
    let value: JSONValue
    do throws(JSONReader.Problem) {
      value = try JSONReader.read(Array(text.utf8))
    } catch {
      let before = String(decoding: text.utf8.prefix(error.offset), as: UTF8.self)
      let row = before.count { $0 == "\n" }
      let last = before.split(separator: "\n", omittingEmptySubsequences: false).last ?? ""
      let line = details[min(index + row, next - 1)]
      let margin = row == 0 ? first.raw.count - first.rest.count : 0
      throw self.error(line, margin + last.count + 1, "the JSON is invalid here")
    }
    guard value.isReadable else {
      throw self.error(first, first.raw.count - first.rest.count + 1, "a string is not JSON")
    }
    for line in lines { try checkNames(line.raw, in: line, column: 1, isGiving: isAnswer) }
    return (JSONTemplate(value: value), next)
  }

  /// Checks the tokens' names in a text: an answer defines a name, and only later lines may use it.
  mutating func checkNames(
    _ text: String, in line: ScenarioLine, column: Int, isGiving: Bool
  ) throws(ScenarioError) {
    var position = column
    for piece in ScenarioName.pieces(of: text) {
      switch piece {
      case .text(let text): position += text.count
      case .malformed(let inner):
        throw error(line, position, "<\(inner)> is neither <A1> nor <A1: jwt 3600s sub=u-7>")
      case .name(let name):
        if let earlier = names[name.name] {
          if name.form != nil {
            throw error(line, position, "\(name.name) is already defined in line \(earlier)")
          }
        } else if isGiving {
          names[name.name] = line.number
        } else {
          throw unknown(
            ScenarioWord(text: name.name, column: position), in: line,
            "not given by an answer above", of: Array(names.keys))
        }
        position += 2 + name.name.count
      }
    }
  }
}
