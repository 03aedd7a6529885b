@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

extension JournalFile {
  /// Reads all payloads, and moves the reader to the place where a search for the last end begins.
  ///
  /// It returns the search at that place. It returns `nil` and moves the reader to the beginning in
  /// these cases:
  ///
  /// - There are few ends.
  /// - A record cannot be folded.
  /// - A newer version wrote a record.
  /// - `goesOn` returned `false`; it is called for each record.
  func searchOfNewestEnds(
    in reader: inout JournalReader, spacing: UInt64, while goesOn: () -> Bool = { true }
  ) throws(ToolError) -> WhySearch? {
    var newest = NewestEnds(spacing: spacing)
    var decoder = self.decoder(for: reader.header)
    var isComplete = true
    try onJournal { () throws(JournalError) in
      try reader.visit { frame, payload in
        do throws(PayloadFold.Failure) {
          try newest.take(
            sequence: frame.sequence, kind: frame.kind, payload: payload,
            endsBatch: frame.remainingInBatch == 0,
            endingAt: frame.offset + UInt64(frame.size)
          ) { () throws(CodecError) in
            try decoder.decode(sequence: frame.sequence, kind: frame.kind, payload: payload)
          }
        } catch {
          // The search from the beginning meets the record again, and reports it.
          isComplete = false
        }
        isComplete = isComplete && goesOn()
        return isComplete
      }
    }
    if isComplete, let start = newest.start {
      do throws(CodecError) {
        if let search = try WhySearch(continuing: start, redaction: decoder.redaction) {
          reader.seek(toFrameAt: start.offset, after: start.sequence)
          return search
        }
      } catch {
        // The search from the beginning meets the record again, and reports it.
      }
    }
    reader.seekToBeginning()
    return nil
  }
}
