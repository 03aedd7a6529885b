@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// An export as one text, made of the records and of the session's states between them.
struct PictureExport<Picture: ExportPicture>: RecordExport {
  private(set) var picture: Picture
  private let redaction: Redaction?
  private let output: Output
  private var fold = SessionFold()

  init(_ picture: Picture, redaction: Redaction?, output: Output) {
    self.picture = picture
    self.redaction = redaction
    self.output = output
  }

  var isOpen: Bool { output.isOpen }

  /// Some texts need the records that are left out, or a snapshot of them.
  var needsBeginning: Bool { Picture.needsBeginning }

  mutating func begin(_ snapshot: ExportItem?, behind before: SessionFold, isPartial: Bool) {
    if isPartial { fold = shown(before) }
    output.write(picture.begin(fold))
    if let snapshot { take([snapshot]) }
  }

  mutating func take(_ batch: [ExportItem]) {
    for item in batch {
      let (before, after) = (fold, shown(item.after))
      fold = after
      output.write(
        picture.take(
          ExportStep(
            record: redaction?.record(item.record) ?? item.record, before: before, after: after)))
    }
  }

  mutating func pulse() { output.pulse() }

  mutating func end(_ ending: ExportEnding, lastSequence: UInt64?) {
    output.write(picture.end())
  }

  private func shown(_ fold: SessionFold) -> SessionFold { redaction?.fold(fold) ?? fold }
}
