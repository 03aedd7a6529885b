@_spi(Internals) internal import SessionCore
internal import SessionExplain

// Why a record that somebody selected is not there; `option` is the one that selects it.
extension JournalFile {
  /// `wanted` comes behind the last record; 0 where there is none.
  func beyondTheEnd(_ wanted: UInt64, last: UInt64, option: String) -> ToolError {
    .usage(
      .beyondTheEnd,
      "\(name) has no record @\(wanted); "
        + (last == 0 ? "it has no records." : "the last record is @\(last)."),
      next: last == 0 ? "\(option) @0" : "\(option) @-1")
  }

  /// There are fewer records than `number`.
  func beyondTheStart(_ number: UInt64, option: String) throws(ToolError) -> ToolError {
    var records: UInt64 = 0
    let fault = try visit { _ in
      records += 1
      return true
    }.fault
    if let fault, fault.code == .damaged {
      return fault.error(
        name,
        consequence:
          "No state is shown: \(count(records, "good record")) can be read, and @-\(number) "
          + "is none of them.")
    }
    return .usage(
      .beyondTheStart,
      "\(name) has no record @-\(number); "
        + (records == 0 ? "it has no records." : "it has \(count(records, "record"))."),
      next: records == 0 ? "\(option) @0" : "\(option) @-\(records)")
  }

  /// What is selected comes before what is left of a compacted journal.
  func isCompacted(through sequence: UInt64, option: String) -> ToolError {
    .usage(
      .compacted,
      "\(name) begins with a snapshot of the records up to @\(sequence); what they were, one by "
        + "one, is no longer in it.",
      next: "\(option) @\(sequence), or later")
  }
}
