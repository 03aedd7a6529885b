@testable import ReplayCommands
@testable import SessionExplain

/// What a user sees of a command that runs in this process.
struct CommandAnswer: Equatable {
  private(set) var output = ""
  private(set) var error = ""
  private(set) var code: Int32 = 0

  /// Runs a command with plain text and without an environment.
  init(_ run: (ToolContext) throws(ToolError) -> ExitCode) {
    let (output, errors) = (CollectedOutput(), CollectedOutput())
    let context = ToolContext(
      output: Output(output, interruption: Interruption()),
      errors: Output(errors, interruption: Interruption()), style: Style(isColored: false),
      environment: { _ in nil }, interruption: Interruption())
    do throws(ToolError) {
      code = try run(context).rawValue
    } catch {
      (code, self.error) = (error.code.rawValue, error.text)
    }
    context.output.flush()
    self.output = output.text
  }
}
