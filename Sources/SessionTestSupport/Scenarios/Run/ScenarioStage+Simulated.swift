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
      world: world, network: network, secrets: ScenarioSecrets(MemorySecretStore()), baseURL: url,
      journal: path, options: { .on(medium.process($0)) },
      decide: { number, fate in
        switch fate {
        case .lost: network.finish(number, .failure(.noReply("the connection broke")))
        case .answer(let response):
          let now = start.time.milliseconds + clock.now().uptime - start.uptime
          network.finish(number, .success(HTTPResponse(response.dated(now))))
        }
      }, bytes: { medium.disk.contents(of: $0) },
      put: { bytes in
        guard let bytes else { return try medium.disk.process().remove(path) }
        medium.disk.place(bytes, at: path)
      }, bury: { medium.process($0).kill() }, cut: { medium.cut() }, close: {})
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

  func cut() { state.withLock { $0 = ($0.disk.crash(.losingAll), [:]) } }
}

extension HTTPResponse {
  /// Creates the answer as it would arrive.
  init(_ sent: SentResponse) {
    self.init(
      status: sent.status, headers: sent.fields.map { HTTPHeader($0.name, $0.value) },
      body: sent.status == 204 ? [] : sent.body)
  }
}

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
        } catch { network.finish(number, .failure(error)) }
      }
      return { task.cancel() }
    }
    service.network.withLock { $0 = network }
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "scenario-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let path = folder.appending(path: "session.journal").path
    return ScenarioStage(
      world: world, network: network,
      secrets: ScenarioSecrets(FileSecretStore(folder: folder.appending(path: "secrets").path)),
      baseURL: server.baseURL, journal: path, options: { _ in JournalOptions() },
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

  func decide(_ number: Int, _ fate: LoopbackFate) { state.withLock { $0.fates[number] = fate } }
}

extension URL {
  fileprivate func moved(from port: UInt16, to other: UInt16) -> URL {
    var parts = URLComponents(url: self, resolvingAgainstBaseURL: false)
    if parts?.port == Int(port) { parts?.port = Int(other) }
    return parts?.url ?? self
  }
}
