/// Scripts that complete command lines, made from what the commands take.
struct Completion {
  let commands: [CommandSyntax]

  /// Everything that may stand behind `help`.
  var helpWords: [String] { commands.map(\.name) + HelpText.Topic.allCases.map(\.rawValue) }

  /// What may stand in the place of the command.
  var firstWords: [String] { commands.map(\.name) + ["help", "--help", "--version"] }
}

extension CommandSyntax.Values {
  /// The words that are offered for them, and whether several may stand with commas between them.
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
  /// `--name`, and `-n` where it has a letter.
  var spellings: [String] { ["--\(name)"] + (letter.map { ["-\($0)"] } ?? []) }
}
