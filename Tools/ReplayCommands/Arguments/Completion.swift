/// Scripts that complete command lines, generated from the syntax of the commands.
struct Completion {
  let commands: [CommandSyntax]

  /// All words that can follow `help`.
  var helpWords: [String] { commands.map(\.name) + HelpText.Topic.allCases.map(\.rawValue) }

  /// All words that can be in the place of the command.
  var firstWords: [String] { commands.map(\.name) + ["help", "--help", "--version"] }

  /// The ends of the names of files that commands read, without their dots.
  private static let suffixes = ["journal", "jsonl", "gz"]

  /// Returns the pattern of the first words that mean a command: a file means `why`.
  private func pattern(_ command: CommandSyntax, _ separator: String) -> String {
    guard command.name == "why" else { return command.name }
    let files = Self.suffixes.map { "*.\($0)" }
    return ([command.name, "*/*"] + files).joined(separator: separator)
  }
}

extension CommandSyntax.Values {
  /// The words to offer, and whether a value may list several with commas between them.
  var offered: (words: [String], isList: Bool)? {
    switch self {
    case .kinds: (KindFilter.known, true)
    case .reasons: (ReasonFilter.known, true)
    case .words(let words): (words, false)
    case .free, .selector, .path, .journal: nil
    }
  }
}

extension CommandSyntax.Option {
  /// `--name`, and `-n` if it has a letter.
  var spellings: [String] { ["--\(name)"] + (letter.map { ["-\($0)"] } ?? []) }
}

extension Completion {
  /// The script for bash 3.2 or later; it needs no other file.
  var bash: String {
    """
    # Completion of sessionreplay for bash. Made by: sessionreplay completion bash

    _sessionreplay_words() {
      COMPREPLY=($(compgen -W "$1" -- "$cur"))
    }

    # Words with commas between them: the last one is completed.
    _sessionreplay_list() {
      local head="" index
      [[ $cur == *,* ]] && head="${cur%,*},"
      COMPREPLY=($(compgen -W "$1" -- "${cur##*,}"))
      for index in "${!COMPREPLY[@]}"; do COMPREPLY[index]="$head${COMPREPLY[index]}"; done
      compopt -o nospace 2> /dev/null
    }

    _sessionreplay_files() {
      local IFS=$'\\n'
      COMPREPLY=($(compgen -f "$@" -- "$cur"; compgen -d -- "$cur"))
      compopt -o filenames 2> /dev/null
    }

    _sessionreplay_journals() {
      local IFS=$'\\n' suffix
      COMPREPLY=($(for suffix in \(Self.suffixes.joined(separator: " ")); do
        compgen -f -X "!*.$suffix" -- "$cur"
      done | sort; compgen -d -- "$cur"))
      compopt -o filenames 2> /dev/null
    }

    _sessionreplay() {
      local cur="${COMP_WORDS[COMP_CWORD]}" prev=""
      COMPREPLY=()
      ((COMP_CWORD > 0)) && prev="${COMP_WORDS[COMP_CWORD - 1]}"
      # bash takes --kind=login for three words.
      if [[ $cur == "=" ]]; then
        cur=""
      elif [[ $prev == "=" ]] && ((COMP_CWORD > 1)); then
        prev="${COMP_WORDS[COMP_CWORD - 2]}"
      fi
      if ((COMP_CWORD == 1)); then
        _sessionreplay_words "\(firstWords.joined(separator: " "))"
        local words=("${COMPREPLY[@]}")
        _sessionreplay_journals
        COMPREPLY=("${words[@]}" "${COMPREPLY[@]}")
        return
      fi
      case "${COMP_WORDS[1]}" in
        help)
          _sessionreplay_words "\(helpWords.joined(separator: " "))"
          ;;
    \(commands.map(bash).joined())  esac
    }

    complete -F _sessionreplay sessionreplay

    """
  }

  private func bash(_ command: CommandSyntax) -> String {
    var text = "    \(pattern(command, " | ")))\n"
    let valued = command.allOptions.filter { $0.value != nil }
    if !valued.isEmpty {
      text += "      case \"$prev\" in\n"
      for option in valued {
        let pattern = option.spellings.joined(separator: " | ")
        text += "        \(pattern)) \(bash(option.values)); return ;;\n"
      }
      text += "      esac\n"
    }
    let options = command.allOptions.map { "--\($0.name)" }.joined(separator: " ")
    text += """
            if [[ $cur == -?* ]]; then
              _sessionreplay_words "\(options)"
            else
              \(bash(command.operands.first?.values ?? .free))
            fi
            ;;

      """
    return text
  }

  private func bash(_ values: CommandSyntax.Values) -> String {
    if let offered = values.offered {
      let function = offered.isList ? "list" : "words"
      return "_sessionreplay_\(function) \"\(offered.words.joined(separator: " "))\""
    }
    return switch values {
    case .journal: "_sessionreplay_journals"
    case .path: "_sessionreplay_files"
    case .free, .selector, .kinds, .reasons, .words: ":"
    }
  }
}

extension Completion {
  /// The script for fish 3 or later.
  var fish: String {
    var text = """
      # Completion of sessionreplay for fish. Made by: sessionreplay completion fish

      # Whether the first word is this command; a file means why.
      function __sessionreplay_is
        set -l words (commandline -opc)
        test (count $words) -gt 1; or return 1
        test $words[2] = $argv[1]; and return 0
        test $argv[1] = why; and string match -qr '/|\\.(\(Self.suffixes.joined(separator: "|")))$' -- $words[2]
      end

      complete -c sessionreplay -f
      complete -c sessionreplay -n __fish_use_subcommand -l help -d 'Show help'
      complete -c sessionreplay -n __fish_use_subcommand -l version -d 'Show the version'
      complete -c sessionreplay -n __fish_use_subcommand -a help -d 'Show help'
      complete -c sessionreplay -n __fish_use_subcommand -k -a '\(fishFiles)'
      complete -c sessionreplay -n '__fish_seen_subcommand_from help' -a \(fishQuoted(helpWords))

      """
    for command in commands {
      text +=
        "complete -c sessionreplay -n __fish_use_subcommand -a \(command.name) "
        + "-d \(fishQuoted(command.summary))\n"
    }
    return text + commands.map(fish).joined()
  }

  private func fish(_ command: CommandSyntax) -> String {
    let start = "complete -c sessionreplay -n '__sessionreplay_is \(command.name)'"
    var text = "\n"
    for option in command.allOptions {
      let letter = option.letter.map { " -s \($0)" } ?? ""
      let value = option.value == nil ? "" : arguments(option.values, isOption: true)
      text += "\(start)\(letter) -l \(option.name)\(value) -d \(fishQuoted(option.help))\n"
    }
    if let operand = command.operands.first {
      let offered = arguments(operand.values, isOption: false)
      if !offered.isEmpty { text += "\(start)\(offered)\n" }
    }
    return text
  }

  private var fishFiles: String {
    // It offers all files, those with this ending first.
    "(__fish_complete_suffix .\(Self.suffixes[0]))"
  }

  private func arguments(_ values: CommandSyntax.Values, isOption: Bool) -> String {
    let needed = isOption ? " -x" : ""
    if let offered = values.offered {
      guard offered.isList else { return "\(needed) -a \(fishQuoted(offered.words))" }
      let words = offered.words.joined(separator: " ")
      return "\(needed) -a \"(__fish_complete_list , 'printf \\\"%s\\\\n\\\" \(words)')\""
    }
    return switch values {
    case .journal: "\(needed) -k -a '\(fishFiles)'"
    case .path: isOption ? " -r -F" : " -F"
    case .free, .selector, .kinds, .reasons, .words: needed
    }
  }

  private func fishQuoted(_ words: [String]) -> String { fishQuoted(words.joined(separator: " ")) }

  /// Returns the text in single quotes for fish.
  private func fishQuoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}

extension Completion {
  /// The script for zsh 5 or later, as a file of `$fpath` or sourced.
  var zsh: String {
    """
    #compdef sessionreplay
    # Completion of sessionreplay for zsh. Made by: sessionreplay completion zsh

    _sessionreplay() {
      local -a commands
      commands=(
    \(commands.map { "    \(zshQuoted("\($0.name):\($0.summary)"))\n" }.joined())    \(zshQuoted("help:Show help"))
      )
      if (( CURRENT == 2 )); then
        if [[ $words[2] == -* ]]; then
          compadd -- --help --version
        else
          _describe -t commands command commands
          _files -g "\(zshFiles)"
        fi
        return
      fi
      local command=$words[2]
      shift words
      (( CURRENT-- ))
      case $command in
        help)
          _arguments \(zshQuoted("*:topic:(\(helpWords.joined(separator: " ")))"))
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

  private var zshFiles: String { "*.(\(Self.suffixes.joined(separator: "|")))(-.)" }

  private func zsh(_ command: CommandSyntax) -> String {
    var specifications = command.allOptions.flatMap(zsh)
    for operand in command.operands {
      let place = operand.arity == .many ? "*:" : ":"
      specifications.append(zshQuoted("\(place)\(operand.name):\(action(operand.values))"))
    }
    let lines = specifications.map { " \\\n        \($0)" }.joined()
    return "    \(pattern(command, "|")))\n      _arguments -s -S\(lines)\n      ;;\n"
  }

  private func zsh(_ option: CommandSyntax.Option) -> [String] {
    let help = option.help.replacing("[", with: "(").replacing("]", with: ")")
    let excluded = "(\(option.spellings.joined(separator: " ")))"
    return option.spellings.map { spelling in
      guard let value = option.value else { return zshQuoted("\(excluded)\(spelling)[\(help)]") }
      let sign = spelling.hasPrefix("--") ? "=" : "+"
      return zshQuoted(
        "\(excluded)\(spelling)\(sign)[\(help)]:\(value):\(action(option.values))")
    }
  }

  private func action(_ values: CommandSyntax.Values) -> String {
    if let offered = values.offered {
      let words = offered.words.joined(separator: " ")
      return offered.isList ? "_sequence compadd - \(words)" : "(\(words))"
    }
    return switch values {
    case .journal: "_files -g \"\(zshFiles)\""
    case .path: "_files"
    case .free, .selector, .kinds, .reasons, .words: " "
    }
  }

  /// Returns the text in single quotes for zsh.
  private func zshQuoted(_ text: String) -> String {
    "'" + text.replacing("'", with: #"'\''"#) + "'"
  }
}
