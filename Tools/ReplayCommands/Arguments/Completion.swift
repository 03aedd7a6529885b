/// Scripts that complete command lines, generated from the syntax of the commands.
struct Completion {
  let commands: [CommandSyntax]

  /// All words that can follow `help`.
  var helpWords: [String] { commands.map(\.name) + HelpText.Topic.allCases.map(\.rawValue) }

  /// All words that can be in the place of the command.
  var firstWords: [String] { commands.map(\.name) + ["help", "--help", "--version"] }
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
