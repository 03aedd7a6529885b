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
        timeout=30s                how long a request may take
        recovery=strict|resume     what happens to secrets without a journal
        longestDelay=5m, grace=60s, required=token
                                   figures of which an app can change none

      Without a preset, the rest is the recorded policy. Journals of earlier versions record none.
      Name theirs with --recorded-policy.

      Exit codes: 0 it differs, or it is the same; 3 not even the first decision can be made again;
      65 the journal is damaged, and nothing after that is known; 2 its last commit is not whole.
      """,
    operands: operands,
    options: [
      .init(name: "policy", value: "WORDS", help: "The other policy: offlineFirst, attempts=5"),
      PolicyChange.recordedOption, DisplayOptions.json,
    ] + DisplayOptions.zones,
    examples: [
      .init(line: "sessionreplay whatif a.journal --policy attempts=5", help: "With five attempts"),
      .init(
        line: "sessionreplay whatif a.journal --policy offlineFirst,lifetime=12h --json",
        help: "A preset with a change, for programs"),
    ])

  let display: DisplayOptions
  private let change: PolicyChange
  private let recorded: PolicyChange?

  init(_ arguments: Arguments) throws(ToolError) {
    display = try DisplayOptions(arguments)
    guard let change = try arguments.policy("policy") else {
      throw .usage(
        .missingValue, "'whatif' needs the other policy.", next: "--policy standard, or attempts=5")
    }
    self.change = change
    recorded = try arguments.policy("recorded-policy")
  }

  func run(_ files: [JournalFile], _ context: ToolContext) throws(ToolError) -> ExitCode {
    var code = ExitCode.ok
    for file in files { code = try run(on: file, context) }
    return code
  }

  private func run(on file: JournalFile, _ context: ToolContext) throws(ToolError) -> ExitCode {
    let proofs = try file.proofs(context)
    var run = WhatIfRun(proofs, OpeningPolicies(named: recorded, other: change))
    let fault = try file.visitBatches(context) { run.take($0) }
    guard context.output.isOpen else { return .ok }
    run.finish(isUnreadable: fault?.mayHideRecords ?? false)
    let answer = WhatIfAnswer(
      run: run, change: change, policies: proofs.policies,
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

extension PolicyChange {
  /// The option for journals that record no policy.
  static let recordedOption = CommandSyntax.Option(
    name: "recorded-policy", value: "WORDS",
    help: "The policy of openings that record none: standard, attempts=3")
}

extension Arguments {
  /// Returns the policy that an option names; `nil` without the option.
  func policy(_ name: String) throws(ToolError) -> PolicyChange? {
    guard let text = value(name) else { return nil }
    do throws(PolicyChange.Problem) { return try PolicyChange(text) } catch {
      func named(_ text: String) -> String { text.replacing("--policy", with: "--\(name)") }
      throw .usage(.badValue, named(error.message), next: named(error.next))
    }
  }
}
