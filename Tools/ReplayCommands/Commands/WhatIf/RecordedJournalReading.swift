@_spi(Internals) internal import SessionCore
internal import SessionJournal

extension JournalFile {
  /// Passes on each batch of a session's journal, up to the first fault; returns that fault.
  ///
  /// A batch that is cut off is left out.
  func visitBatches(_ context: ToolContext, _ body: (RecordedBatch) -> Bool) throws(ToolError)
    -> JournalFault?
  {
    var records: [SessionRecord] = []
    var fold = SessionFold()
    var illegal: JournalFault?
    let pass = try visit { entry in
      context.output.pulse()
      do throws(SessionFold.Failure) {
        try fold.apply(entry.record)
      } catch {
        illegal = JournalFault(error, at: entry.place)
        return false
      }
      records.append(entry.record)
      guard entry.remainingInBatch == 0, let batch = RecordedBatch(records) else {
        return context.output.isOpen
      }
      records = []
      return body(batch) && context.output.isOpen
    }
    return illegal ?? pass.fault
  }

  /// Returns what the whole journal proves about its openings.
  func proofs(_ context: ToolContext) throws(ToolError) -> JournalProofs {
    var proofs = JournalProofs()
    _ = try visitBatches(context) { batch in
      proofs.take(batch)
      return true
    }
    proofs.finish()
    return proofs
  }
}
