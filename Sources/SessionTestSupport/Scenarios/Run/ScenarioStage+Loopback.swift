import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization

extension ScenarioStage {
  /// Creates a stage with real sockets and files: `URLSession`, a loopback server, and a folder.
  ///
  /// The folder contains the journal and the secrets. Only the clock and the thread of the tasks
  /// are simulated.
  static func loopback(at time: Timestamp) throws -> ScenarioStage {
    let world = SimulatedWorld(Choices(replaying: []))
    let clock = world.clock
    clock.setTime(time)
    let start = clock.now()
    let service = ScenarioService()
    // Jumps of the device's clock do not change the server's clock.
    let server = try LoopbackServer.start(service: service) {
      start.time.milliseconds + clock.now().uptime - start.uptime
    }
    let port = server.port
    // The port is reserved during the scenario, so that no other process can listen on it.
    let (deaf, nowhere) = try Socket.deaf()
    let network = ScenarioNetwork(clock: clock) { network, number, request, isOn in
      var request = request
      // Real time must not decide: the virtual clock ends requests that take too long.
      request.timeout = .seconds(120)
      request.headers.append(HTTPHeader(ScenarioService.header, "\(number)"))
      if !isOn { request.url = request.url.moved(from: port, to: nowhere) }
      let outgoing = request
      let task = Task {
        do throws(TransportError) {
          network.finish(number, .success(try await URLSessionTransport().send(outgoing)))
        } catch {
          network.finish(number, .failure(error))
        }
      }
      return { task.cancel() }
    }
    service.network.withLock { $0 = network }
    let folder = FileManager.default.temporaryDirectory
      .appending(path: "scenario-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let path = folder.appending(path: "session.journal").path
    return ScenarioStage(
      world: world, network: network,
      secrets: ScenarioSecrets(FileSecretStore(folder: folder.appending(path: "secrets").path)),
      baseURL: server.baseURL, journal: path,
      options: { _ in JournalOptions() },
      decide: { number, fate in
        service.decide(number, fate)
        server.ring()
      },
      bytes: { path in
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return Array(try Data(contentsOf: URL(filePath: path)))
      },
      put: { bytes in
        guard let bytes else { return try FileManager.default.removeItem(atPath: path) }
        try Data(bytes).write(to: URL(filePath: path))
      },
      // A process without running code holds no lock, and the file system keeps all writes.
      bury: { _ in }, cut: {},
      close: {
        server.stop()
        deaf.close()
        // If removing fails, the system cleans its temporary folder later.
        do { try FileManager.default.removeItem(at: folder) } catch {}
      })
  }
}

/// The server's side of a scenario: it holds each request until the file has decided its outcome.
private final class ScenarioService: LoopbackService {
  /// The header field with the number of the request.
  static let header = "X-Scenario-Request"

  private struct State {
    /// The scenario's request numbers, by the server's numbers.
    var numbers: [Int: Int] = [:]
    var fates: [Int: LoopbackFate] = [:]
  }

  let network = Mutex<ScenarioNetwork?>(nil)
  private let state = Mutex(State())

  func receive(_ request: ReceivedRequest, number: Int) {
    let name = ScenarioService.header.lowercased()
    guard let own = request.fields.values(of: name).first.flatMap({ Int($0) }) else { return }
    state.withLock { $0.numbers[number] = own }
    network.withLock { $0 }?.arrive(own, request)
  }

  func fate(ofRequest number: Int) -> LoopbackFate? {
    state.withLock { state in state.numbers[number].flatMap { state.fates[$0] } }
  }

  func decide(_ number: Int, _ fate: LoopbackFate) {
    state.withLock { $0.fates[number] = fate }
  }
}

extension URL {
  fileprivate func moved(from port: UInt16, to other: UInt16) -> URL {
    var parts = URLComponents(url: self, resolvingAgainstBaseURL: false)
    if parts?.port == Int(port) { parts?.port = Int(other) }
    return parts?.url ?? self
  }
}
