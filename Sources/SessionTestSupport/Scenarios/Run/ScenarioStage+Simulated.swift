import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization

extension ScenarioStage {
  /// Creates a stage in a simulated world, without sockets and files; draws decide the order of
  /// jobs.
  static func simulated(_ choices: Choices, at time: Timestamp) throws -> ScenarioStage {
    guard let url = URL(string: "https://service.example.test") else { throw URLError(.badURL) }
    let world = SimulatedWorld(choices)
    let clock = world.clock
    clock.setTime(time)
    let start = clock.now()
    let network = ScenarioNetwork(clock: clock) { network, number, request, isOn in
      if isOn {
        network.arrive(number, ReceivedRequest(request))
      } else {
        network.finish(number, .failure(.noConnection("the network is off")))
      }
      return { network.finish(number, .failure(.cancelled)) }
    }
    let medium = ScenarioMedium()
    let path = "session.journal"
    return ScenarioStage(
      world: world, network: network, secrets: ScenarioSecrets(MemorySecretStore()),
      baseURL: url, journal: path, options: { .on(medium.process($0)) },
      decide: { number, fate in
        switch fate {
        case .lost: network.finish(number, .failure(.noReply("the connection broke")))
        case .answer(let response):
          let now = start.time.milliseconds + clock.now().uptime - start.uptime
          network.finish(number, .success(HTTPResponse(response.dated(now))))
        }
      },
      bytes: { medium.disk.contents(of: $0) },
      put: { bytes in
        guard let bytes else { return try medium.disk.process().remove(path) }
        medium.disk.place(bytes, at: path)
      },
      bury: { medium.process($0).kill() }, cut: { medium.cut() }, close: {})
  }
}

/// The disk of a scenario, and the processes on it.
private final class ScenarioMedium: Sendable {
  private let state = Mutex<(disk: SimulatedDisk, processes: [UInt32: SimulatedProcess])>(
    (SimulatedDisk(), [:]))

  var disk: SimulatedDisk { state.withLock { $0.disk } }

  func process(_ life: ProcessLife) -> SimulatedProcess {
    state.withLock { state in
      if let process = state.processes[life.number] { return process }
      let process = state.disk.process()
      state.processes[life.number] = process
      return process
    }
  }

  func cut() {
    state.withLock { $0 = ($0.disk.crash(.losingAll), [:]) }
  }
}

extension HTTPResponse {
  /// Creates the answer as it would arrive.
  init(_ sent: SentResponse) {
    self.init(
      status: sent.status, headers: sent.fields.map { HTTPHeader($0.name, $0.value) },
      body: sent.status == 204 ? [] : sent.body)
  }
}
