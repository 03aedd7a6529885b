internal import SessionExplain

/// The export that a temporary journal was made of.
///
/// The temporary file has no name. It exists as long as this value.
final class ConvertedFile: Sendable {
  /// The path as the user gave it.
  let path: String
  /// Whether its names are pseudonyms already.
  let isRedacted: Bool
  /// Why the journal has less than the file should have; `nil` if it has everything.
  let fault: JournalFault?
  /// The app and the platform of an opening that the file leaves out; `nil` if it is not known.
  let opening: ExportSource?
  /// The explanation that the app made of its whole journal; `nil` if the file is no support report.
  let explanation: ReportedExplanation?
  private let copy: TemporaryFile

  init(
    path: String, copy: consuming TemporaryFile, isRedacted: Bool, fault: JournalFault?,
    opening: ExportSource? = nil, explanation: ReportedExplanation? = nil
  ) {
    (self.path, self.isRedacted, self.fault) = (path, isRedacted, fault)
    (self.opening, self.explanation) = (opening, explanation)
    self.copy = copy
  }

  /// The path at which this process can open the temporary file.
  var openPath: String { "/dev/fd/\(copy.descriptor)" }
}
