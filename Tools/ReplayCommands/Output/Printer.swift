/// Prints a command's answer and keeps the first failure of doing so, so that loops can stop.
final class Printer {
  private let output: any TextOutput
  private(set) var failure: OutputFailure?

  init(_ output: any TextOutput) {
    self.output = output
  }

  var isTerminal: Bool { output.isTerminal }

  /// Whether somebody still takes what is printed.
  var isOpen: Bool { failure == nil }

  func print(_ text: String) {
    attempt { () throws(OutputFailure) in try output.write(text) }
  }

  func flush() {
    attempt { () throws(OutputFailure) in try output.flush() }
  }

  private func attempt(_ body: () throws(OutputFailure) -> Void) {
    guard failure == nil else { return }
    do throws(OutputFailure) {
      try body()
    } catch {
      failure = error
    }
  }
}
