@_spi(Internals) import SessionCore
import SessionJSON
import SessionKit

/// A parser of scenario files; it reads a file in one pass.
struct ScenarioParser {
  private let file: String
  private let text: String
  var setting = ScenarioSetting()
  private var title: String?
  private var requirements: [String] = []
  private var steps: [ScenarioStep] = []
  /// The lines in which tokens were defined, by name.
  var names: [String: Int] = [:]
  /// The lines in which labels of commands and requests were defined.
  var labels: [String: Int] = [:]
  /// The line that is read now, for errors.
  var line = ScenarioLine.none

  init(_ text: String, file: String) {
    self.text = text
    self.file = file
  }

  mutating func parse() throws -> Scenario {
    for block in try blocks() { try read(block) }
    guard let title, !requirements.isEmpty, !setting.app.isEmpty, !steps.isEmpty else {
      throw error("a file needs the lines scenario, proves, app and do")
    }
    return Scenario(
      file: file, title: title, requirements: requirements, setting: setting, steps: steps)
  }

  private mutating func blocks() throws -> [ScenarioBlock] {
    var blocks: [ScenarioBlock] = []
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, raw) in lines.enumerated() {
      guard let next = ScenarioLine(raw, number: index + 1) else { continue }
      line = next
      if line.isOpen, line.indent <= 2, line.words[0] != "json" {
        throw error("a quote is not closed")
      }
      if raw.contains("\t") {
        throw error("a line must not contain a tab; indent by two spaces")
      } else if line.indent == 0 {
        blocks.append(ScenarioBlock(head: line))
      } else if blocks.isEmpty {
        throw error("no line is above this indented line")
      } else {
        blocks[blocks.count - 1].details.append(line)
      }
    }
    return blocks
  }

  private mutating func read(_ block: ScenarioBlock) throws {
    line = block.head
    let word = line.words[0]
    if ScenarioVocabulary.header.contains(word) {
      guard steps.isEmpty else { throw error("\"\(word)\" must be above the first step") }
      try readHeader(block)
    } else if ScenarioVocabulary.steps.contains(word) {
      steps.append(try step(block))
    } else {
      throw error("\"\(word)\" is not a step")
    }
  }

  private mutating func readHeader(_ block: ScenarioBlock) throws {
    let arguments = Array(line.words.dropFirst())
    let word = line.words[0]
    guard !arguments.isEmpty || word == "changes" else {
      throw error("\"\(word)\" needs an argument")
    }
    if word != "app", word != "known" { try expectNoDetails(block) }
    switch word {
    case "scenario":
      guard title == nil else { throw error("a file must contain only one scenario") }
      title = line.rest
    case "proves":
      for argument in arguments {
        guard argument.wholeMatch(of: /[A-Z]{3}-[0-9]{1,2}/) != nil else {
          throw error("\"\(argument)\" is not a requirement such as REF-3")
        }
        requirements.append(argument)
      }
    case "app": try readApp(block)
    case "policy":
      for field in try fields(arguments, names: ScenarioVocabulary.policy) {
        var policy = SessionPolicy.production
        guard ScenarioSetting.apply(field, to: &policy) else {
          throw error("\"\(field.value)\" is not a value of \(field.name)")
        }
        setting.policy.append(field)
      }
    case "start":
      guard arguments.count == 1, let time = Timestamp(arguments[0]) else {
        throw error("a start has the form 2026-11-21T08:00:00Z")
      }
      setting.start = time
    case "user":
      guard arguments.count == 3 else {
        throw error("a user needs a name, a user name and a password")
      }
      setting.users[arguments[0]] = ScenarioUser(name: arguments[1], password: arguments[2])
    case "changes": try readChanges(arguments)
    default: try readKnown(block)
    }
  }

  private mutating func readApp(_ block: ScenarioBlock) throws {
    let word = block.head.words[1]
    guard let options = ScenarioVocabulary.apps[word], block.head.words.count == 2 else {
      throw error("\"\(word)\" is not an app")
    }
    setting.app = word
    for detail in block.details {
      line = detail
      let (option, arguments) = (line.words[0], Array(line.words.dropFirst()))
      guard options.contains(option) else {
        throw error("\"\(option)\" is not a setting of \(word)")
      }
      guard let first = arguments.first else { throw error("\"\(option)\" needs an argument") }
      switch option {
      case "environment":
        guard ScenarioVocabulary.environments.contains(first) else {
          throw error("\"\(first)\" is not an environment")
        }
        setting.environment = first
      case "client": setting.client = try client(arguments)
      case "scope": setting.scope = first
      case "tokens":
        guard ScenarioVocabulary.owners.contains(first) else {
          throw error("\"\(first)\" is not an owner of tokens")
        }
        setting.isOwned = first == "provider"
      default: setting.revocation = first
      }
    }
  }

  private func client(_ words: [String]) throws -> ScenarioSetting.Client {
    var client = ScenarioSetting.Client(id: words[0])
    guard words.count > 1 else { return client }
    guard words.count == 3, ["form", "basic"].contains(words[1]) else {
      throw error("a client has the form ID, ID form SECRET, or ID basic SECRET")
    }
    client.isBasic = words[1] == "basic"
    client.secret = words[2]
    return client
  }

  private mutating func readKnown(_ block: ScenarioBlock) throws {
    guard line.words == ["known", "session"], let detail = block.details.first,
      detail.words[0] == "json"
    else { throw error("the only form is \"known session\", with the answer's json below it") }
    guard !setting.isOwned else {
      throw error("if the provider keeps the tokens, a sign-in begins on its page")
    }
    setting.known = (try json(block.details, from: 0, isAnswer: true).template, line.number)
  }
}

// Functions that all readers of lines need.
extension ScenarioParser {
  func error(_ problem: String) -> ScenarioError {
    ScenarioError(file: file, line: line.number, problem: problem)
  }

  func expectNoDetails(_ block: ScenarioBlock) throws {
    guard block.details.isEmpty else {
      throw error("no line may be indented below \"\(line.words[0])\"")
    }
  }

  /// Parses `name=value` words; `nil` allows any name.
  func fields(_ words: some Sequence<String>, names: [String]? = nil) throws -> [ScenarioStep.Field]
  {
    var fields: [ScenarioStep.Field] = []
    for word in words {
      let pair = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2 else { throw error("\"\(word)\" does not have the form name=value") }
      let name = String(pair[0])
      guard names?.contains(name) ?? true else {
        throw error("\"\(name)\" is not a field of this line")
      }
      guard !fields.contains(where: { $0.name == name }) else {
        throw error("\"\(name)\" occurs twice")
      }
      fields.append(ScenarioStep.Field(name: name, value: String(pair[1])))
    }
    return fields
  }

  /// Parses the JSON text that begins in a detail and continues in the lines that are indented
  /// deeper.
  mutating func json(_ details: [ScenarioLine], from index: Int, isAnswer: Bool) throws -> (
    template: JSONTemplate, next: Int
  ) {
    let first = details[index]
    var next = index + 1
    while next < details.count, details[next].indent > first.indent { next += 1 }
    let lines = details[index..<next]
    let text = ([first.rest] + lines.dropFirst().map(\.raw)).joined(separator: "\n")
    let value: JSONValue
    do throws(JSONReader.Problem) { value = try JSONReader.read(Array(text.utf8)) } catch {
      throw self.error("the JSON is invalid at byte \(error.offset)")
    }
    guard value.isReadable else { throw error("a string is not JSON") }
    for line in lines { try checkNames(line.raw, isGiving: isAnswer) }
    return (JSONTemplate(value: value), next)
  }

  /// Checks the tokens' names in a text: an answer defines a name, and only later lines may use it.
  mutating func checkNames(_ text: String, isGiving: Bool) throws {
    for piece in ScenarioName.pieces(of: text) {
      switch piece {
      case .text: continue
      case .malformed(let inner):
        throw error("<\(inner)> is neither <A1> nor <A1: jwt 3600s sub=u-7>")
      case .name(let name):
        if let earlier = names[name.name] {
          if name.form != nil { throw error("\(name.name) is already defined in line \(earlier)") }
        } else if isGiving {
          names[name.name] = line.number
        } else {
          throw error("\"\(name.name)\" is not given by an answer above")
        }
      }
    }
  }
}
