import Foundation

/// A failing case as a file keeps it: the draws to run it, and the steps for a reader.
///
/// ```
/// property: the draft survives an expiry
/// status: open
/// replay: 0471Q0R4...
/// message: the draft is gone
/// steps:
///   login | authenticated
///   expire | expired
/// ```
///
/// After the fault is fixed, the reader changes `open` to `fixed`; from then on the case must pass.
struct Regression: Hashable, Sendable {
  enum Status: String, CaseIterable, Sendable {
    case open = "open"
    case fixed = "fixed"
  }

  /// The name of a field: the text of a line before its colon.
  enum Field: String, CaseIterable, Sendable {
    case property = "property"
    case status = "status"
    case replay = "replay"
    case message = "message"
    case steps = "steps"
  }

  var property: String
  var status: Status
  var replay: String
  var message: String
  /// The greatest number of steps that a file keeps.
  static let longest = 1_000

  /// The steps that the body recorded, one per line.
  var steps: [String]

  var text: String {
    let fields: [(Field, String)] = [
      (.property, Self.oneLine(property)), (.status, status.rawValue), (.replay, replay),
      (.message, Self.oneLine(message)),
    ]
    let lines = fields.map { "\($0.rawValue): \($1)" } + ["\(Field.steps.rawValue):"]
    return (lines + steps.prefix(Self.longest).map { "  \($0)" }).joined(separator: "\n") + "\n"
  }

  init(property: String, replay: String, message: String, steps: [Step]) {
    self.property = property
    status = .open
    self.replay = replay
    self.message = message
    self.steps = Self.lines(steps)
  }

  /// Parses a file's text; throws the reason if it cannot be read.
  init(text: String) throws(Unreadable) {
    var fields: [Field: String] = [:]
    var steps: [String] = []
    var isInSteps = false
    for line in text.split(whereSeparator: \.isNewline) {
      if isInSteps {
        steps.append(String(line.drop { $0 == " " }))
      } else if line == "\(Field.steps.rawValue):" {
        isInSteps = true
      } else if let colon = line.firstIndex(of: ":") {
        guard let field = Field(rawValue: String(line[..<colon])) else { continue }
        fields[field] = Self.trimmed(line[line.index(after: colon)...])
      }
    }
    guard let replay = fields[.replay] else { throw Unreadable(reason: "it has no line replay:") }
    guard let status = fields[.status].flatMap({ Status(rawValue: $0.lowercased()) }) else {
      throw Unreadable(reason: "its line status: contains neither open nor fixed")
    }
    self.replay = replay
    self.status = status
    self.steps = steps
    property = fields[.property] ?? ""
    message = fields[.message] ?? ""
  }

  /// Returns whether the case was saved for a property of this name.
  func isOf(property name: String) -> Bool {
    property == Self.trimmed(Self.oneLine(name)[...])
  }

  private static func trimmed(_ text: Substring) -> String {
    var text = text.drop { $0.isWhitespace }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text)
  }

  struct Unreadable: Error {
    let reason: String
  }

  /// Returns whether these steps begin with the saved ones.
  ///
  /// States may differ, and a case that no longer fails may have further steps.
  func isPrefix(of found: [Step]) -> Bool {
    Self.lines(found).map(Self.withoutState).starts(with: steps.map(Self.withoutState))
  }

  private static func withoutState(_ line: String) -> Substring {
    line.firstRange(of: " | ").map { line[..<$0.lowerBound] } ?? line[...]
  }

  static func lines(_ steps: [Step]) -> [String] {
    steps.filter { !$0.isSchedule }.map { step in
      oneLine(step.state.map { "\(step.text) | \($0)" } ?? step.text)
    }
  }

  private static func oneLine(_ text: String) -> String {
    String(text.onOneLine.drop { $0 == " " })
  }
}

extension String {
  /// The text with spaces in place of line breaks.
  var onOneLine: String { String(map { $0.isNewline ? " " : $0 }) }
}

/// A folder of failing cases, with one folder per property and one file per case.
///
/// Keep it under version control. Each check runs the saved cases first.
///
/// - Requirement: TST-1
public struct RegressionFolder: Hashable, Sendable {
  /// The suffix of a case's file name.
  static let suffix = ".case"
  /// The folder's name, if the caller gives none.
  static let name = "Regressions"

  /// The folder's path.
  public let path: String

  /// Creates a value for the folder at this path.
  public init(path: String) {
    self.path = path
  }

  /// Creates a value for the folder `Regressions` next to the tests.
  ///
  /// It is in the nearest folder `Tests` that contains the source file. If there is none, it is
  /// beside the file.
  public init(around file: String = #filePath) {
    let folders = Array(file.split(separator: "/").dropLast())
    let tests = folders.lastIndex(of: "Tests").map { Array(folders[...$0]) } ?? folders
    path = "/" + (tests + [Self.name[...]]).joined(separator: "/")
  }

  /// Returns the folder of one property: its name in ASCII letters, digits and hyphens, and a hash
  /// of it.
  func folder(of property: String) -> String {
    var name = ""
    for character in property.lowercased() {
      if character.isASCII, character.isLetter || character.isNumber {
        name.append(character)
      } else if !name.hasSuffix("-"), !name.isEmpty {
        name.append("-")
      }
    }
    while name.hasSuffix("-") { name.removeLast() }
    if name.isEmpty { name = "property" }
    let hash = String(StableHash.folded(property), radix: 16)
    return "\(path)/\(name.prefix(60))-\(hash)"
  }

  struct File: Sendable {
    let path: String
    let content: Result<Regression, Regression.Unreadable>
  }

  /// Returns the saved cases of a property, sorted by file name.
  func files(of property: String) -> [File] {
    let folder = folder(of: property)
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      return [unreadable(folder, error)]
    }
    return names.filter { $0.hasSuffix(Self.suffix) }.sorted().map { name in
      read("\(folder)/\(name)")
    }
  }

  private func read(_ path: String) -> File {
    do {
      let text = try String(contentsOfFile: path, encoding: .utf8)
      return File(
        path: path,
        content: Result { () throws(Regression.Unreadable) in
          try Regression(text: text)
        })
    } catch {
      return unreadable(path, error)
    }
  }

  private func unreadable(_ path: String, _ error: any Error) -> File {
    let reason = (error as NSError).localizedDescription
    return File(path: path, content: .failure(Regression.Unreadable(reason: reason)))
  }

  /// Returns why a case could not be saved.
  ///
  /// If a file is missing, the folder could not be created.
  package static func reason(_ error: any Error) -> String {
    let missing: [CocoaError.Code] = [.fileNoSuchFile, .fileReadNoSuchFile]
    if let error = error as? CocoaError, missing.contains(error.code) {
      return "the system creates no folder there"
    }
    return (error as NSError).localizedDescription
  }

  /// Saves a case in a file named after a hash of its replay code; returns the path.
  func save(_ regression: Regression) throws -> String {
    let folder = folder(of: regression.property)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let name = String(StableHash.hash(regression.replay), radix: 16)
    let path = "\(folder)/\(name)" + Self.suffix
    try regression.text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }
}
