@_spi(Internals) internal import SessionCore
internal import SessionJournal

/// `state`: shows the state that the records fold to.
struct StateCommand: JournalCommand {
  static let syntax = CommandSyntax(
    name: "state", summary: "Show the session's state, at the end or at any record",
    discussion: """
      Folds the events from the first record to the last, or to the one that --at selects (@0 is
      before the first). Of the token only its facts are known; the journal does not hold it.

      \(HelpText.selectors)
      """,
    operands: operands,
    options: [
      .init(
        name: "at", value: "SELECTOR", values: .selector,
        help: "As of this record, or the last at or before it"),
      DisplayOptions.json,
    ] + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay state a.journal", help: "At the end"),
      .init(line: "sessionreplay state a.journal --at @412", help: "After record 412"),
      .init(line: "sessionreplay state a.journal --at -5m", help: "Five minutes before the end"),
      .init(line: "sessionreplay state a.journal --at 14:02 --local", help: "By the clock here"),
    ])

  let display: DisplayOptions
  private let at: Selector?

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    at = try arguments.selector("at")
  }

  func run(on file: JournalFile, _ context: ToolContext) throws(ToolError) {
    var target: UInt64?
    if let at {
      target = try SelectorResolver(file: file, zone: display.zone)
        .resolve([(at, .atOrBefore)]).first
      if case .fromEnd(let number) = at, target == 0 {
        throw try file.beyondTheStart(number, option: "--at")
      }
    }
    if let changes = try ChangeState(of: file, through: target) {
      return try show(changes, through: target, file, context)
    }
    var payloads = PayloadFold()
    var time: Timestamp?
    var illegal: JournalFault?
    // The journal's own frames have sequences too, so the totals may end after the last record.
    var (last, isBeyond) = (UInt64(0), true)
    var compacted: UInt64 = 0
    let pass = try file.visitPayloads { (frame, payload) throws(CodecError) in
      if last == 0, frame.isSnapshot { compacted = frame.sequence }
      if let target, frame.sequence > target {
        isBeyond = false
        return false
      }
      do throws(PayloadFold.Failure) {
        time = try payloads.apply(sequence: frame.sequence, kind: frame.kind, payload: payload)
        last = frame.sequence
        return true
      } catch {
        switch error {
        case .unreadable(let problem, _): throw problem
        case .refused(let failure):
          last = frame.sequence
          illegal = JournalFault(
            failure, at: JournalPlace(sequence: frame.sequence, offset: frame.offset))
          return false
        }
      }
    }
    if let target, target < compacted { throw file.isCompacted(through: compacted, option: "--at") }
    let snapshot: StateSnapshot
    do throws(CodecError) {
      snapshot = StateSnapshot(try payloads.fold(), at: time)
    } catch {
      throw ToolError(.unexpected, .unexpected, error.description)
    }
    let fault = illegal ?? pass.fault
    if fault?.code != .damaged, isBeyond, case .sequence(let wanted)? = at, wanted > last {
      throw file.beyondTheEnd(wanted, last: last, option: "--at")
    }
    context.output.write(
      display.isJSON
        ? snapshot.json(journal: pass.header.identifier.description)
        : StateFormatter(snapshot: snapshot, zone: display.zone, style: context.style).text)
    guard let fault else { return }
    throw fault.error(
      file.name, consequence: "The state shown is as of seq \(snapshot.fold.sequence).")
  }

  private func show(
    _ changes: ChangeState, through target: UInt64?, _ file: JournalFile, _ context: ToolContext
  ) throws(ToolError) {
    if let target, target < changes.compacted {
      throw file.isCompacted(through: changes.compacted, option: "--at")
    }
    if changes.fault?.code != .damaged, changes.isAtEnd, case .sequence(let wanted)? = at,
      wanted > changes.sequence
    {
      throw file.beyondTheEnd(wanted, last: changes.sequence, option: "--at")
    }
    context.output.write(
      display.isJSON ? changes.json : changes.text(zone: display.zone, style: context.style))
    guard let fault = changes.fault else { return }
    throw fault.error(
      file.name, consequence: "The state shown is as of seq \(changes.sequence).")
  }
}
