import Foundation
import SessionCore
import SessionJournal
import SessionKit

extension ScenarioStage {
  /// A simulated world: no socket, no file, and the order of everything that is ready by draws.
  static func simulated(_ choices: Choices, at time: Timestamp) throws -> ScenarioStage {
    guard let url = URL(string: "https://service.example.test") else { throw URLError(.badURL) }
    let world = SimulatedWorld(choices)
    let clock = world.clock
    clock.setTime(time)
    let start = clock.now()
    let network = ScenarioNetwork(clock: clock) { network, number, request, isOn in
      guard isOn else {
        return network.finish(number, .failure(.noConnection("the network is off")))
      }
      network.arrive(number, ReceivedRequest(request))
    }
    let disk = SimulatedDisk()
    let path = "session.journal"
    return ScenarioStage(
      world: world, network: network, secrets: ScenarioSecrets(MemorySecretStore()),
      baseURL: url, journal: path, options: { .on(disk.process()) },
      decide: { number, fate in
        switch fate {
        case .lost: network.finish(number, .failure(.noReply("the connection broke")))
        case .answer(let response):
          let now = start.time.milliseconds + clock.now().uptime - start.uptime
          network.finish(number, .success(HTTPResponse(response.dated(now))))
        }
      },
      bytes: { disk.contents(of: path) },
      put: { bytes in
        guard let bytes else { return try disk.process().remove(path) }
        disk.place(bytes, at: path)
      }, close: {})
  }
}

extension HTTPResponse {
  /// The answer as it would arrive.
  init(_ sent: SentResponse) {
    self.init(
      status: sent.status, headers: sent.fields.map { HTTPHeader($0.name, $0.value) },
      body: sent.status == 204 ? [] : sent.body)
  }
}
