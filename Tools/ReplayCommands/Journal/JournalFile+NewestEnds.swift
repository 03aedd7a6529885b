@_spi(Internals) internal import SessionCore
internal import SessionExplain
internal import SessionJournal

extension JournalFile {
  /// Reads all frames, and moves the reader to the place where a search for the last end begins.
  ///
  /// Of a long file another thread reads the later half. It returns the search at that place. It
  /// returns `nil` and moves the reader to the beginning in these cases:
  ///
  /// - There are few ends.
  /// - An event is not possible in the state before it, or a record cannot be decoded that outlives
  ///   a login.
  /// - A newer version wrote a record.
  /// - `goesOn` returned `false`; it is called after every 1,024 records of the first half.
  func searchOfNewestEnds(
    in reader: inout JournalReader, spacing: UInt64, halving: UInt64 = halvedLength,
    while goesOn: () -> Bool = { true }
  ) throws(ToolError) -> WhySearch? {
    var newest = NewestEnds(spacing: spacing)
    var decoder = self.decoder(for: reader.header)
    var isComplete = true
    let later = laterHalf(
      of: reader, above: halving, from: NewestEnds(spacing: spacing, beginsLater: true)
    ) { later, frame, payload in
      later.take(frame, payload) { () throws(CodecError) in
        try SessionCodec.decode(sequence: frame.sequence, kind: frame.kind, payload: payload)
      }
    }
    defer { later?.cancel() }
    var isHalf = false
    var records: UInt32 = 0
    try onJournal { () throws(JournalError) in
      try reader.visit { frame, payload in
        if let later, later.begins(with: frame) {
          isHalf = newest.allowsLogin && later.isComplete()
          if isHalf { return false }
        }
        isComplete = newest.take(frame, payload) { () throws(CodecError) in
          try decoder.decode(sequence: frame.sequence, kind: frame.kind, payload: payload)
        }
        records &+= 1
        if records & 1023 == 0 { isComplete = isComplete && goesOn() }
        return isComplete
      }
    }
    var start = isComplete ? newest.start : nil
    if isHalf, let later {
      start = nil
      try later.take { count, second throws(ToolError) in
        let found = try newest.start(before: count) { offset throws(ToolError) in
          try record(at: offset, of: second, &decoder)
        }
        guard let found else { return }
        start = found.place
        if found.isLater { swap(&reader, &second) }
      }
    }
    guard let start else {
      reader.seekToBeginning()
      return nil
    }
    reader.seek(toFrameAt: start.offset, after: start.sequence)
    return WhySearch(continuing: start, redaction: decoder.redaction)
  }

  /// Returns the record at a place that was read before; `nil` if it cannot be decoded.
  private func record(
    at offset: UInt64, of reader: borrowing JournalReader, _ decoder: inout RecordDecoder
  ) throws(ToolError) -> SessionRecord? {
    var record: SessionRecord?
    do throws(JournalError) {
      try reader.visit(recordAt: offset) { frame, payload in
        do throws(CodecError) {
          record = try decoder.decode(
            sequence: frame.sequence, kind: frame.kind, payload: payload)
        } catch {
          // The search from the beginning meets the record again, and reports it.
        }
      }
    } catch {
      throw ToolError(error, in: self)
    }
    return record
  }
}

extension NewestEnds {
  @inline(__always)
  fileprivate mutating func take(
    _ frame: JournalFrame, _ payload: RawSpan, record: () throws(CodecError) -> SessionRecord
  ) -> Bool {
    take(
      sequence: frame.sequence, kind: frame.kind, payload: payload,
      endsBatch: frame.remainingInBatch == 0, at: frame.offset, record: record)
  }
}
