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
    var text = "    \(command.name))\n"
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
    case .journal: "_sessionreplay_files -X '!*.journal'"
    case .path: "_sessionreplay_files"
    case .free, .selector, .kinds, .reasons, .words: ":"
    }
  }
}
