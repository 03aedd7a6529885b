@_spi(Internals) internal import SessionCore
internal import SessionExplain

/// `whatif`: says where the outcome differs under another policy.
struct WhatIfCommand: Command {
  static let name = "whatif"
  static let syntax = CommandSyntax(
    name: name, summary: "Say what another policy would have changed",
    discussion: """
      Decides the journal again under another policy, with the inputs that the records prove, and
      stops at the first decision that differs. Calls, timers and responses to requests that were
      never made are not in a journal, so the answer ends there. It never assumes a response.

      WORDS is a preset (\(PolicyChange.Preset.allCases.map(\.rawValue).joined(separator: ", "))), changes, or a
      preset with changes, with commas between them:

        attempts=N                 how many failures exhaust the attempts
        refused=keep|clear         what a rejected refresh results in
        exhausted=stay|end-keep|end-clear|expiry-keep|expiry-clear
                                   what exhausted attempts result in
        refusedToken=deliver|end   a rejected token without a known lifetime
        inactivity=30m|none        how long a session may be unused
        lifetime=12h|none          how long a session may last
        threshold=5m|none          how long before a token's end it is refreshed
        firstDelay=2s              the delay before the second attempt
        launch=ifExpired|always    when a launch refreshes

      Without a preset, the rest is the policy that the records prove.

      Exit codes: 0 it differs, or it is the same; 3 not even the first decision can be made again;
      65 the journal is damaged, and nothing after that is known; 2 its last commit is not whole.
      """,
    operands: operands,
    options: [
      .init(name: "policy", value: "WORDS", help: "The other policy: offlineFirst, attempts=5"),
      DisplayOptions.json,
    ] + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay whatif a.journal --policy attempts=5", help: "With five attempts"),
      .init(
        line: "sessionreplay whatif a.journal --policy offlineFirst,lifetime=12h --json",
        help: "A preset with a change, for programs"),
    ])

  let display: DisplayOptions
  private let change: PolicyChange

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    guard let text = arguments.value("policy") else {
      throw .usage(
        .missingValue, "'whatif' needs the other policy.", next: "--policy standard, or attempts=5")
    }
    do throws(PolicyChange.Problem) {
      change = try PolicyChange(text) { Selector.span($0[...]) }
    } catch {
      throw .usage(.badValue, error.message, next: error.next)
    }
  }

  func run(_ files: [JournalFile], _ context: ToolContext) throws(ToolError) -> ExitCode {
    var code = ExitCode.ok
    for file in files { code = try run(on: file, context) }
    return code
  }

  private func run(on file: JournalFile, _ context: ToolContext) throws(ToolError) -> ExitCode {
    let proofs = try file.proofs(context)
    var run = WhatIfRun(proofs, change)
    let fault = try file.visitBatches(context) { run.take($0) }
    guard context.output.isOpen else { return .ok }
    run.finish(isUnreadable: fault?.mayHideRecords ?? false)
    let answer = WhatIfAnswer(
      run: run, change: change, facets: proofs.facets,
      zone: display.isJSON ? .utc : display.zone.display)
    if display.isJSON {
      context.output.write(answer.json(file.rawName))
    } else {
      for line in answer.text(file.name).split(separator: "\n", omittingEmptySubsequences: false)
        .dropLast()
      {
        let lines = context.columns.map { StyledLine(String(line)).wrapped(to: $0) }
        for line in lines ?? [String(line)] { context.output.write(line + "\n") }
      }
    }
    if let fault {
      throw fault.error(file.name, consequence: "The answer is from the records before it.")
    }
    return answer.saysSomething ? .ok : .answerIsNo
  }
}
