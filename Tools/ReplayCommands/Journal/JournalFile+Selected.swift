@_spi(Internals) internal import SessionCore
internal import SessionExplain

// Why a selected record is not there; `option` is the option that selects it.
extension JournalFile {
  /// The error if `wanted` comes after the record `last`, which is 0 for a journal without records.
  func beyondTheEnd(_ wanted: UInt64, last: UInt64, option: String) -> ToolError {
    .usage(
      .beyondTheEnd,
      "\(name) has no record @\(wanted); "
        + (last == 0 ? "it has no records." : "the last record is @\(last)."),
      next: last == 0 ? "\(option) @0" : "\(option) @-1")
  }

  /// The error if there are fewer records than `number`.
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

  /// The error if a selected record was removed by a compaction.
  func isCompacted(through sequence: UInt64, option: String) -> ToolError {
    .usage(
      .compacted,
      "\(name) begins with a snapshot of the records up to @\(sequence); what they were, one by "
        + "one, is no longer in it.",
      next: "\(option) @\(sequence), or later")
  }
}
