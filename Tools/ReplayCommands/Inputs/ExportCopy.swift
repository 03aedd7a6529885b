@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

/// The conversion of an export into an unnamed temporary journal.
struct ExportCopy: ~Copyable {
  private static let pieceSize = 256 * 1024

  private var reader = ImportReader()
  private var encoder: ExportEncoder?
  private var copy: TemporaryFile
  /// The first two lines, from which the salt is made.
  private var beginning: [UInt8] = []
  private var header: ImportReader.Step?
  /// The number of bytes of the lines before.
  private var offset: UInt64 = 0
  private var fault: JournalFault?

  /// Returns the journal of an export; `path` is what the user gave.
  ///
  /// A line that cannot be read ends the journal, as damage does. It throws if the header cannot be
  /// read, or if the export leaves out what came first.
  static func journal(of file: JournalFile, named path: String) throws(ToolError) -> JournalFile {
    var lines = try InputLines(file, file.interruption)
    var conversion = try ExportCopy()
    while let line = try lines.next(), conversion.fault == nil {
      try conversion.take(line, number: lines.number, file)
    }
    try conversion.finish(line: lines.number + 1, file)
    return file.converted(conversion.converted(path))
  }

  private init() throws(ToolError) { copy = try TemporaryFile() }

  private mutating func take(_ line: ArraySlice<UInt8>, number: Int, _ file: JournalFile)
    throws(ToolError)
  {
    do throws(ImportProblem) {
      try encode(try reader.take(line), line)
    } catch {
      guard reader.header != nil else {
        throw Self.refused(
          error, file, line: number, isForeign: !ImportReader.claimsToBeHeader(line))
      }
      fault = .badLine(place, line: number, error.message)
    }
    offset += UInt64(line.count) + 1
    if let encoder, encoder.size > Self.pieceSize { try write() }
  }

  private var place: JournalPlace {
    JournalPlace(sequence: reader.lastSequence + 1, offset: offset)
  }

  private mutating func encode(_ step: ImportReader.Step, _ line: ArraySlice<UInt8>)
    throws(ImportProblem)
  {
    let hasSnapshot = reader.hasSnapshot == true
    if encoder == nil { beginning += line }
    if let header {
      // The salt keys the pseudonyms of users. Who has only these cannot guess the lines.
      encoder = ExportEncoder(salt: Self.salt(beginning))
      encoder?.take(header, hasSnapshot: hasSnapshot)
      self.header = nil
    }
    if encoder == nil { header = step } else { encoder?.take(step, hasSnapshot: hasSnapshot) }
  }

  private mutating func finish(line: Int, _ file: JournalFile) throws(ToolError) {
    if fault == nil {
      do throws(ImportProblem) {
        try reader.finish()
        fault = reader.ending.flatMap { JournalFault.Verdict($0) }.map { .exported(place, $0) }
      } catch {
        guard reader.header != nil else {
          throw Self.refused(error, file, line: line, isForeign: true)
        }
        fault = .badLine(place, line: line, error.message)
      }
    }
    if let header {
      encoder = ExportEncoder(salt: Self.salt(beginning))
      encoder?.take(header, hasSnapshot: false)
    }
    encoder?.finish()
    try write()
  }

  private mutating func write() throws(ToolError) {
    guard let bytes = encoder?.bytes else { return }
    try copy.append(bytes)
    encoder?.removeBytes()
  }

  private consuming func converted(_ path: String) -> ConvertedFile {
    ConvertedFile(
      path: path, copy: copy, isRedacted: reader.header?.isRedacted ?? false, fault: fault,
      opening: reader.opening, explanation: reader.explanation)
  }

  /// The error of a file whose first line cannot be read.
  ///
  /// `isForeign` is true if the line does not look like one of an export. In a folder, such a file
  /// is no journal.
  private static func refused(
    _ problem: ImportProblem, _ file: JournalFile, line: Int, isForeign: Bool
  ) -> ToolError {
    ToolError(
      .damaged, isForeign && file.isFound ? .notAJournal : .badLine,
      "\(file.name), line \(line): \(problem.message).",
      consequence: "It is neither a journal nor an export that can be read.",
      next: problem.next ?? "check the path")
  }

  /// Returns the salt of the temporary journal: the same for the same lines.
  private static func salt(_ bytes: [UInt8]) -> UInt64 {
    SipHash.digest(of: bytes, low: 0x6578_706F_7274_6564, high: 0x6A6F_7572_6E61_6C73)
      .prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
  }
}

extension JournalFault.Verdict {
  /// The verdict on a journal that an export says ended like this; `nil` if it ended well.
  fileprivate init?(_ ending: ExportEnding) {
    switch ending {
    case .clean, .until: return nil
    case .torn: self = .torn
    case .undetermined: self = .undetermined
    case .damaged: self = .damaged
    case .undecodable: self = .undecodable
    case .illegal: self = .illegal
    case .unknownKind: self = .unknownKind
    }
  }
}
