extension Completion {
  /// The script for zsh 5 or later, as a file of `$fpath` or sourced.
  var zsh: String {
    """
    #compdef sessionreplay
    # Completion of sessionreplay for zsh. Made by: sessionreplay completion zsh

    _sessionreplay() {
      local -a commands
      commands=(
    \(commands.map { "    \(quoted("\($0.name):\($0.summary)"))\n" }.joined())    \(quoted("help:Show help"))
      )
      if (( CURRENT == 2 )); then
        if [[ $words[2] == -* ]]; then
          compadd -- --help --version
        else
          _describe -t commands command commands
        fi
        return
      fi
      local command=$words[2]
      shift words
      (( CURRENT-- ))
      case $command in
        help)
          _arguments \(quoted("*:topic:(\(helpWords.joined(separator: " ")))"))
          ;;
    \(commands.map(zsh).joined())  esac
    }

    if [[ $funcstack[1] == _sessionreplay ]]; then
      _sessionreplay "$@"
    else
      compdef _sessionreplay sessionreplay
    fi

    """
  }

  private func zsh(_ command: CommandSyntax) -> String {
    var specifications = command.allOptions.flatMap(zsh)
    for operand in command.operands {
      let place = operand.arity == .many ? "*:" : ":"
      specifications.append(quoted("\(place)\(operand.name):\(action(operand.values))"))
    }
    let lines = specifications.map { " \\\n        \($0)" }.joined()
    return "    \(command.name))\n      _arguments -s -S\(lines)\n      ;;\n"
  }

  private func zsh(_ option: CommandSyntax.Option) -> [String] {
    let help = option.help.replacing("[", with: "(").replacing("]", with: ")")
    let excluded = "(\(option.spellings.joined(separator: " ")))"
    return option.spellings.map { spelling in
      guard let value = option.value else { return quoted("\(excluded)\(spelling)[\(help)]") }
      let sign = spelling.hasPrefix("--") ? "=" : "+"
      return quoted(
        "\(excluded)\(spelling)\(sign)[\(help)]:\(value):\(action(option.values))")
    }
  }

  private func action(_ values: CommandSyntax.Values) -> String {
    if let offered = values.offered {
      let words = offered.words.joined(separator: " ")
      return offered.isList ? "_sequence compadd - \(words)" : "(\(words))"
    }
    return switch values {
    case .journal: "_files -g \"*.journal(-.)\""
    case .path: "_files"
    case .free, .selector, .kinds, .reasons, .words: " "
    }
  }

  /// Returns the text in single quotes for zsh.
  private func quoted(_ text: String) -> String {
    "'" + text.replacing("'", with: #"'\''"#) + "'"
  }
}
