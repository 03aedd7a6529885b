internal import SessionExplain

/// The arguments of one command, parsed by its syntax.
struct Arguments: Sendable {
  private(set) var operands: [String] = []
  /// The options that were given; there are so few that a search is faster than a table.
  private var given: [Given] = []
  private let syntax: CommandSyntax

  /// An option, and its value if it takes one.
  private struct Given {
    let name: String
    let value: String?
  }

  func has(_ option: String) -> Bool { given.contains { $0.name == option && $0.value == nil } }
  func value(_ option: String) -> String? { given.last { $0.name == option }?.value }

  /// The operands that name journals.
  var journals: [String] {
    operands.enumerated().filter { index, _ in
      syntax.operands[min(index, syntax.operands.count - 1)].values == .journal
    }.map(\.element)
  }

  /// Parses options and operands in any order.
  ///
  /// `--` ends the options; `-` alone is an operand.
  ///
  /// If an option is given twice, its last value counts. If two values might seem to count
  /// together, the option is rejected. The command decides about options that exclude each other
  /// (`--all`, `--at`).
  init(_ words: [String], syntax: CommandSyntax) throws(ToolError) {
    self.syntax = syntax
    var rest = words[...]
    while let word = rest.popFirst() {
      if word == "--" {
        operands += rest
        break
      } else if word.hasPrefix("--") {
        try readLong(word.dropFirst(2), &rest)
      } else if word.hasPrefix("-"), word.count > 1 {
        try readLetters(word.dropFirst(), &rest)
      } else {
        operands.append(word)
      }
    }
    guard !has("help") else { return }
    if let alone = syntax.options.first(where: { $0.isAlone && value($0.name) != nil }) {
      guard let first = operands.first else { return }
      throw .usage(
        .extraOperand, "--\(alone.name) reads no file, and '\(first.shortened)' was given.",
        next: "sessionreplay \(syntax.name) --\(alone.name) \(alone.value ?? "")")
    }
    try checkOperands()
  }

  private mutating func readLong(_ word: Substring, _ rest: inout ArraySlice<String>)
    throws(ToolError)
  {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = parts.first.map(String.init) ?? ""
    guard let option = syntax.allOptions.first(where: { $0.name == name }) else {
      throw unknown("--\(name)", near: Suggestion.nearest(to: name, in: names).map { "--\($0)" })
    }
    let text = parts.count > 1 ? String(parts[1]) : nil
    if option.value == nil, text != nil {
      throw .usage(
        .unexpectedValue, "--\(name) takes no value.", next: "--\(name)")
    }
    try take(option, spelled: "--\(name)", given: text, &rest)
  }

  private mutating func readLetters(_ letters: Substring, _ rest: inout ArraySlice<String>)
    throws(ToolError)
  {
    var letters = letters
    while let letter = letters.popFirst() {
      guard let option = syntax.allOptions.first(where: { $0.letter == letter }) else {
        throw unknown("-\(letter)", near: nil)
      }
      guard option.value != nil else {
        given.append(Given(name: option.name, value: nil))
        continue
      }
      let text = letters.isEmpty ? nil : String(letters)
      try take(option, spelled: "-\(letter)", given: text, &rest)
      return
    }
  }

  private mutating func take(
    _ option: CommandSyntax.Option, spelled: String, given text: String?,
    _ rest: inout ArraySlice<String>
  ) throws(ToolError) {
    guard let valueName = option.value else {
      given.append(Given(name: option.name, value: nil))
      return
    }
    guard let value = text ?? rest.popFirst() else {
      throw .usage(
        .missingValue, "\(spelled) needs a value.", next: "\(spelled) \(valueName)")
    }
    if option.isOnce, let other = self.value(option.name), other != value {
      throw .usage(
        .conflict,
        "\(spelled) is given twice, as '\(other.shortened)' and as '\(value.shortened)'.",
        next: option.name == "by" ? "only one of them" : "\(spelled) \(other),\(value)")
    }
    given.append(Given(name: option.name, value: value))
  }

  private var names: [String] { syntax.allOptions.map(\.name) }

  private func unknown(_ option: String, near: String?) -> ToolError {
    .usage(
      .unknownOption, "'\(syntax.name)' has no option \(option.shortened).",
      next: near ?? "sessionreplay \(syntax.name) --help")
  }

  private func checkOperands() throws(ToolError) {
    if let empty = zip(operands, syntax.operands).first(where: { $0.0.isEmpty })?.1.name {
      throw .usage(
        .missingOperand, "No file was named: \(empty) is empty.",
        next: "sessionreplay \(syntax.name) \(empty)")
    }
    let needed = syntax.operands.prefix { $0.arity != .optional }
    if operands.count < needed.count {
      let missing = needed[operands.count].name
      throw .usage(
        .missingOperand, "'\(syntax.name)' needs \(missing).",
        next: "sessionreplay \(syntax.name) \(missing)")
    }
    if syntax.operands.last?.arity != .many, operands.count > syntax.operands.count {
      throw .usage(
        .extraOperand,
        "'\(syntax.name)' does not know what to do with '\(operands[syntax.operands.count].shortened)'.",
        next: "sessionreplay \(syntax.name) --help")
    }
  }
}
