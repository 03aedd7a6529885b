import Foundation
package import SessionTestKit

extension Scenario {
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
