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

extension ScenarioStep.Command {
  /// Returns the command with its tokens' names replaced by values.
  func filled(_ fill: (String) -> String) -> ScenarioStep.Command {
    switch self {
    case .social(let provider, let token): .social(provider: provider, token: fill(token))
    case .adopt(let access, let refresh): .adopt(access: fill(access), refresh: refresh.map(fill))
    case .redirect(let address): .redirect(fill(address))
    default: self
    }
  }

  /// Returns the command with its keys' names replaced by keys.
  func keyed(_ key: (String) -> String) -> ScenarioStep.Command {
    switch self {
    case .add(var change):
      change.key = key(change.key)
      return .add(change)
    case .discard(let name): return .discard(key: key(name))
    default: return self
    }
  }

  /// Whether the command sends changes; such a command ends with its session.
  var isSending: Bool { self == .drain || self == .sync }

  /// The command as in a file, without arguments.
  var text: String {
    switch self {
    case .open: "do open"
    case .close: "do close"
    case .login: "do login"
    case .refresh: "do refresh"
    case .refreshIfNeeded: "do refreshIfNeeded"
    case .switchContext: "do switch"
    case .logout: "do logout"
    case .clearError: "do clearError"
    case .call: "do call"
    case .adopt: "do adopt"
    case .register: "do register"
    case .social: "do social"
    case .unlock: "do unlock"
    case .foreground: "do foreground"
    case .use: "do use"
    case .page: "do page"
    case .silently: "do silently"
    case .redirect: "do redirect"
    case .add: "do add"
    case .drain: "do drain"
    case .sync: "do sync"
    case .discard: "do discard"
    }
  }
}
