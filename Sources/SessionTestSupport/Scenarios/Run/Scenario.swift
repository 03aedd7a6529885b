import Foundation
package import SessionTestKit

/// A flow of one app, described in a text file.
///
/// It contains the acts of the user and the answers of the server with their times. It lists the
/// resulting requests, events and states.
///
/// ```swift
/// let scenario = try Scenario(text, file: "Specs/Scenarios/edu-day.scenario")
/// try scenario.runSimulated(Choices(seed: 7))  // a simulated world, its schedule by draws
/// try await scenario.runOverLoopback()         // real sockets, real files
/// ```
/// Specs/Scenarios/README.md describes the lines.
///
/// - Requirement: TST-2
package struct Scenario: Sendable {
  /// The greatest number of events that a file can name for one interval of time.
  static let mostEvents = 400

  /// The file's name, as the caller gave it.
  package let file: String
  let setting: ScenarioSetting
  /// The lines below the header.
  let lines: [ScenarioLine]

  /// Reads a scenario's header; each other line is read when it is run.
  ///
  /// - Throws: The first line that is no line of a header.
  package init(_ text: String, file: String) throws(ScenarioFailure) {
    self.file = file
    let lines = ScenarioLine.lines(of: text)
    var setting = ScenarioSetting()
    var header = 0
    do throws(ScenarioProblem) {
      while header < lines.count, try setting.read(lines[header]) { header += 1 }
      if setting.app.isEmpty { throw ScenarioProblem("a file needs the line app") }
    } catch {
      let line = lines.indices.contains(header) ? lines[header].number : 1
      throw ScenarioFailure(file: file, line: line, problem: error.description, before: [])
    }
    self.setting = setting
    self.lines = Array(lines[header...])
  }

  /// Runs the scenario in a simulated world; draws decide the order of all ready jobs.
  ///
  /// - Throws: The first line that is not fulfilled.
  package func runSimulated(_ choices: Choices) throws(ScenarioFailure) {
    let stage: ScenarioStage
    do { stage = try .simulated(choices, at: setting.start) } catch { throw failure(error) }
    try play(on: stage)
  }

  /// Runs the scenario with real sockets and files, on its own thread and with a virtual clock.
  ///
  /// - Throws: The first line that is not fulfilled.
  package func runOverLoopback() async throws(ScenarioFailure) {
    let result: Result<Void, ScenarioFailure> = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        do throws(ScenarioFailure) {
          let stage: ScenarioStage
          do { stage = try .loopback(at: setting.start) } catch { throw failure(error) }
          try play(on: stage)
          continuation.resume(returning: .success(()))
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
    try result.get()
  }

  private func play(on stage: ScenarioStage) throws(ScenarioFailure) {
    defer {
      stage.network.stop()
      stage.world.finish()
      stage.close()
    }
    var run = ScenarioRun(self, on: stage)
    try run.play()
  }

  private func failure(_ error: any Error) -> ScenarioFailure {
    ScenarioFailure(file: file, line: 1, problem: "there is no stage: \(error)", before: [])
  }
}

/// A line of a scenario that was not fulfilled; contains no token, password or e-mail address.
package struct ScenarioFailure: Error, CustomStringConvertible {
  /// The file's name, as the caller gave it.
  package let file: String
  /// The number of the line that failed, from 1.
  package let line: Int
  /// A sentence that says what the line requires, and what was found.
  package let problem: String
  /// The last things that happened before, the oldest first.
  package let before: [String]

  /// `FILE:LINE: problem`, and on the next lines what happened last.
  package var description: String {
    (["\(file):\(line): \(problem)"] + before.map { "  before: \($0)" }).joined(separator: "\n")
  }
}
