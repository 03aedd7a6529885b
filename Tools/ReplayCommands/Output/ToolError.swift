internal import SessionExplain
internal import SessionJSON

/// Why a command could not do all that was asked: what happened, the consequence, and the next
/// step.
struct ToolError: Error, Equatable, Sendable {
  /// A stable name for programs: the `name` of an error in JSON.
  enum Name: String, CaseIterable, Sendable {
    case badArgument = "badArgument"
    case badDuration = "badDuration"
    case badFormat = "badFormat"
    case badKey = "badKey"
    case badKind = "badKind"
    case badLine = "badLine"
    case badReason = "badReason"
    case badSelector = "badSelector"
    case badValue = "badValue"
    case beyondTheEnd = "beyondTheEnd"
    case beyondTheStart = "beyondTheStart"
    case busy = "busy"
    case cannotCreate = "cannotCreate"
    case changeLog = "changeLog"
    case compacted = "compacted"
    case conflict = "conflict"
    case damaged = "damaged"
    case empty = "empty"
    case exists = "exists"
    case extraOperand = "extraOperand"
    case gap = "gap"
    case headerDamaged = "headerDamaged"
    case illegal = "illegal"
    case illegalLine = "illegalLine"
    case inputOutput = "inputOutput"
    case interrupted = "interrupted"
    case isDirectory = "isDirectory"
    case missing = "missing"
    case missingCommand = "missingCommand"
    case missingOperand = "missingOperand"
    case missingValue = "missingValue"
    case newerFormat = "newerFormat"
    case noJournal = "noJournal"
    case noOutput = "noOutput"
    case notAJournal = "notAJournal"
    case notARegularFile = "notARegularFile"
    case output = "output"
    case partial = "partial"
    case permissionDenied = "permissionDenied"
    case replaced = "replaced"
    case sameFile = "sameFile"
    case timedOut = "timedOut"
    case tooManyInputs = "tooManyInputs"
    case torn = "torn"
    case undecodable = "undecodable"
    case undetermined = "undetermined"
    case unexpected = "unexpected"
    case unexpectedValue = "unexpectedValue"
    case unknownCommand = "unknownCommand"
    case unknownField = "unknownField"
    case unknownKind = "unknownKind"
    case unknownOption = "unknownOption"
  }

  let code: ExitCode
  let name: Name
  /// What happened and at which place, in one sentence.
  let message: String
  /// The consequence: what was or was not shown or written.
  var consequence: String?
  /// The next step.
  var next: String?
  /// The place in the journal, if the error is about one.
  var place: JournalPlace?

  init(
    _ code: ExitCode, _ name: Name, _ message: String, consequence: String? = nil,
    next: String? = nil, place: JournalPlace? = nil
  ) {
    self.code = code
    self.name = name
    self.message = message
    self.consequence = consequence
    self.next = next
    self.place = place
  }

  static func usage(_ name: Name, _ message: String, next: String) -> ToolError {
    ToolError(.usage, name, message, next: next)
  }

  /// The error for people.
  var text: String {
    // A tail that does not count is no failure, and the user need not do anything about it.
    let isNote = code == .tail
    var text = "\(isNote ? "Note" : "Error"): \(message.printable)\n"
    if let consequence { text += "  \(consequence.printable)\n" }
    if let next { text += "\(isNote ? "Next" : "Try"): \(next.printable)\n" }
    return text
  }

  /// The error as one JSON object.
  var json: String {
    var json = JSONWriter()
    json.object { json in
      json.field("v", 1)
      json.object("error") { json in
        json.field("code", Int64(code.rawValue))
        json.field("class", code.name)
        json.field("name", name.rawValue)
        json.field("message", message)
        json.field("consequence", consequence)
        json.field("next", next)
        json.field("sequence", place?.sequence)
        json.field("offset", place?.offset)
      }
    }
    return json.text + "\n"
  }
}

/// A place in a journal.
struct JournalPlace: Equatable, Sendable {
  /// The sequence of the record at this place, or of the record that should be there.
  let sequence: UInt64
  /// The distance from the beginning of the file, in bytes.
  let offset: UInt64
}
