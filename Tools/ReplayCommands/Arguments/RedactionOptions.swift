internal import SessionExplain

/// Whether an output shows names or pseudonyms, and which key the pseudonyms have.
struct RedactionOptions: Equatable, Sendable {
  /// Which values are pseudonyms if the user says nothing.
  enum Standard: Sendable {
    /// None: `--redact` replaces all names.
    case none
    /// The users alone: `--redact` replaces all other names too.
    case users
    /// All names.
    case all
  }

  static let redact = CommandSyntax.Option(
    name: "redact", help: "Show pseudonyms in place of names and identifiers")
  static let keyFile = CommandSyntax.Option(
    name: "key-file", value: "FILE", values: .path,
    help: "The key of the pseudonyms; also SESSIONREPLAY_KEY_FILE")
  /// The options of a command that shows names unless pseudonyms are requested.
  static let options = [redact, keyFile]

  /// Whether all names are replaced.
  let isRedacting: Bool
  /// Whether the output has pseudonyms at all.
  let needsKey: Bool
  /// The file that `--key-file` names.
  let keyFile: String?

  init(_ arguments: Arguments, standard: Standard = .none) throws(ToolError) {
    isRedacting = standard == .all || arguments.has(Self.redact.name)
    needsKey = standard != .none || isRedacting
    keyFile = arguments.value(Self.keyFile.name)
    if keyFile != nil, arguments.has("reveal") {
      throw .usage(
        .conflict, "--reveal and --key-file exclude each other: names stay as they are.",
        next: "only one of them")
    }
    guard needsKey || keyFile == nil else {
      throw .usage(
        .conflict, "--key-file has no effect without --redact: names would be shown.",
        next: "--redact --key-file FILE")
    }
    guard keyFile != "-" else {
      throw .usage(
        .badValue, "--key-file cannot be '-': standard input may be a journal.",
        next: "--key-file FILE")
    }
  }

  /// Reads the key: from `--key-file`, else `SESSIONREPLAY_KEY_FILE`, else `SESSIONREPLAY_KEY`.
  ///
  /// Without any of them, each journal has a key of its own. If nothing is replaced, no file is read.
  func redactor(_ context: ToolContext, isQuiet: Bool) throws(ToolError) -> Redactor {
    guard needsKey else { return .none }
    var key: PseudonymKey?
    if let keyFile {
      key = try PseudonymKey(file: keyFile, of: "--key-file", context, isQuiet: isQuiet)
    } else if let path = context.value(of: .keyFile), !path.isEmpty {
      key = try PseudonymKey(
        file: path, of: ToolContext.Variable.keyFile.rawValue, context, isQuiet: isQuiet)
    } else if let text = context.value(of: .key), !text.isEmpty {
      key = try PseudonymKey(Array(text.utf8), of: ToolContext.Variable.key.rawValue)
    }
    return Redactor(
      isRedacting: isRedacting, needsKey: needsKey, chosen: key.map { Pseudonyms(key: $0.bytes) })
  }
}

/// The key of pseudonyms, as a file or the environment has it.
///
/// No error and no description contains any of its bytes.
private struct PseudonymKey {
  private static let sizes = 16...4096

  let bytes: [UInt8]

  /// Checks the length without the newlines at the end; `source` names the key in errors.
  init(_ bytes: [UInt8], of source: String) throws(ToolError) {
    let end = bytes.lastIndex { $0 != 0x0A && $0 != 0x0D }.map { $0 + 1 } ?? 0
    self.bytes = Array(bytes[..<end])
    guard end >= Self.sizes.lowerBound else {
      throw Self.bad(
        "\(source) has \(count(end, "byte")), and a key needs \(Self.sizes.lowerBound) or more: "
          + "a person who guesses it can test what a pseudonym means.")
    }
    guard end <= Self.sizes.upperBound else {
      throw Self.bad(
        "\(source) has more than \(Self.sizes.upperBound.grouped) bytes: that is no key.")
    }
  }

  init(file path: String, of source: String, _ context: ToolContext, isQuiet: Bool)
    throws(ToolError)
  {
    guard !path.isEmpty else { throw Self.bad("\(source) names no file: its value is empty.") }
    let name = path.quotedWhereNeeded
    let file: SmallFile
    do throws(SmallFile.Failure) {
      file = try SmallFile(path, most: Self.sizes.upperBound + 2, context.interruption)
    } catch {
      throw Self.error(error, source, name, context.interruption)
    }
    try self.init(file.bytes, of: name)
    guard file.isReadableByOthers, !isQuiet else { return }
    context.errors.write(
      "Note: other users may read the key in \(name.printable). Next: chmod 600 \(name.printable)\n"
    )
  }

  private static func error(
    _ failure: SmallFile.Failure, _ source: String, _ name: String, _ interruption: Interruption
  ) -> ToolError {
    let consequence = "Nothing is shown, because pseudonyms need the key."
    switch failure {
    case .folder: return bad("\(source) names a folder, \(name), and not a file with a key.")
    case .refused(.missing):
      return ToolError(
        .missing, .missing, "There is no file with a key at \(name), which \(source) names.",
        consequence: consequence, next: advice)
    case .refused(.forbidden):
      return ToolError(
        .inputOutput, .permissionDenied, "This user may not read the key in \(name).",
        consequence: consequence, next: "check the file's owner and mode")
    case .refused(.other(let errno)):
      return ToolError(
        .inputOutput, .inputOutput,
        "The system refused to read the key in \(name): \(systemMessage(errno)) (errno \(errno)).",
        consequence: consequence, next: "check the disk and the path")
    case .interrupted: return interruption.error
    }
  }

  private static let advice = "(umask 077; openssl rand -hex 32 > KEY), then --key-file KEY"

  private static func bad(_ message: String) -> ToolError {
    ToolError(
      .usage, .badKey, message, consequence: "Nothing is shown, because pseudonyms need the key.",
      next: advice)
  }
}
