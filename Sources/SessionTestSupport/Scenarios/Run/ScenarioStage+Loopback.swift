import Foundation
@_spi(Internals) import SessionCore
import SessionHTTP
import SessionJournal
import SessionKit
import SessionTestKit
import Synchronization

extension ScenarioStage {
  /// Real sockets and real files: `URLSession`, a loopback server, a journal and secrets in a folder.
  ///
  /// Virtual are the clock, and the thread that tasks run on.
  static func loopback(at time: Timestamp) throws -> ScenarioStage {
    let world = SimulatedWorld(Choices(replaying: []))
    let clock = world.clock
    clock.setTime(time)
    let start = clock.now()
    let service = ScenarioService()
    // The server's clock knows nothing of jumps of the device's.
    let server = try LoopbackServer.start(service: service) {
      start.time.milliseconds + clock.now().uptime - start.uptime
    }
    let port = server.port
    // Held while the scenario is played: nobody else may begin to listen there.
    let (deaf, nowhere) = try Socket.deaf()
    let network = ScenarioNetwork(clock: clock) { network, number, request, isOn in
      var request = request
      // Real time must not decide: who waits for too long is told by the virtual clock.
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
      options: { _ in Journal.Options() },
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
      // The dead hold no lock where nothing moves, and the file system keeps what it was given.
      bury: { _ in }, cut: {},
      close: {
        server.stop()
        deaf.close()
        // What stays in the system's temporary folder is the system's to clean.
        do { try FileManager.default.removeItem(at: folder) } catch {}
      })
  }
}

/// The server's side of a scenario: holds each request until the file has decided.
private final class ScenarioService: LoopbackService {
  /// What tells the server which request this is.
  static let header = "X-Scenario-Request"

  private struct State {
    /// The requests' own numbers, by the server's.
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
