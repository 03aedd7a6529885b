/// What a temporary journal was made of: an export, or a compressed file.
///
/// The temporary file has no name. It exists as long as this value.
final class ConvertedFile: Sendable {
  /// The path as the user gave it.
  let path: String
  /// Whether its names are pseudonyms already.
  let isRedacted: Bool
  /// Why the journal has less than the file should have; `nil` if it has everything.
  let fault: JournalFault?
  private let copy: TemporaryFile

  init(path: String, copy: consuming TemporaryFile, isRedacted: Bool, fault: JournalFault?) {
    (self.path, self.isRedacted, self.fault) = (path, isRedacted, fault)
    self.copy = copy
  }

  /// The path at which this process can open the temporary file.
  var openPath: String { "/dev/fd/\(copy.descriptor)" }
}
