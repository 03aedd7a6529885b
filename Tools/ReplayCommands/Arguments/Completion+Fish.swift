extension Completion {
  /// The script for fish 3 or later.
  var fish: String {
    var text = """
      # Completion of sessionreplay for fish. Made by: sessionreplay completion fish

      complete -c sessionreplay -f
      complete -c sessionreplay -n __fish_use_subcommand -l help -d 'Show help'
      complete -c sessionreplay -n __fish_use_subcommand -l version -d 'Show the version'
      complete -c sessionreplay -n __fish_use_subcommand -a help -d 'Show help'
      complete -c sessionreplay -n '__fish_seen_subcommand_from help' -a \(quoted(helpWords))

      """
    for command in commands {
      text +=
        "complete -c sessionreplay -n __fish_use_subcommand -a \(command.name) "
        + "-d \(quoted(command.summary))\n"
    }
    return text + commands.map(fish).joined()
  }

  private func fish(_ command: CommandSyntax) -> String {
    let start =
      "complete -c sessionreplay -n '__fish_seen_subcommand_from \(command.name); "
      + "and not __fish_seen_subcommand_from help'"
    var text = "\n"
    for option in command.allOptions {
      let letter = option.letter.map { " -s \($0)" } ?? ""
      let value = option.value == nil ? "" : arguments(option.values, isOption: true)
      text += "\(start)\(letter) -l \(option.name)\(value) -d \(quoted(option.help))\n"
    }
    if let operand = command.operands.first {
      let offered = arguments(operand.values, isOption: false)
      if !offered.isEmpty { text += "\(start)\(offered)\n" }
    }
    return text
  }

  private func arguments(_ values: CommandSyntax.Values, isOption: Bool) -> String {
    let needed = isOption ? " -x" : ""
    if let offered = values.offered {
      guard offered.isList else { return "\(needed) -a \(quoted(offered.words))" }
      let words = offered.words.joined(separator: " ")
      return "\(needed) -a \"(__fish_complete_list , 'printf \\\"%s\\\\n\\\" \(words)')\""
    }
    return switch values {
    case .journal: "\(needed) -k -a '(__fish_complete_suffix .journal)'"
    case .path: isOption ? " -r -F" : " -F"
    case .free, .selector, .kinds, .reasons, .words: needed
    }
  }

  private func quoted(_ words: [String]) -> String { quoted(words.joined(separator: " ")) }

  /// Returns the text in single quotes for fish.
  private func quoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}
