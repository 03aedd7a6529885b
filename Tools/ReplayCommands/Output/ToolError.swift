internal import SessionExplain
internal import SessionJSON

/// Why a command could not do all that it was asked: what, its consequence, and what to do next.
struct ToolError: Error, Equatable, Sendable {
  let code: ExitCode
  /// A stable word for programs.
  let name: String
  /// What happened and where, one sentence.
  let message: String
  /// What it means for what was or was not shown.
  var consequence: String?
  /// What to do next.
  var next: String?
  /// Where in the journal, if it is about a place in it.
  var place: JournalPlace?

  init(
    _ code: ExitCode, _ name: String, _ message: String, consequence: String? = nil,
    next: String? = nil, place: JournalPlace? = nil
  ) {
    self.code = code
    self.name = name
    self.message = message
    self.consequence = consequence
    self.next = next
    self.place = place
  }

  static func usage(_ name: String, _ message: String, next: String) -> ToolError {
    ToolError(.usage, name, message, next: next)
  }

  /// The error as people read it.
  var text: String {
    // A tail that does not count is no failure, and there is nothing for the user to do about it.
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
        json.field("name", name)
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
