import Dispatch
import Foundation
import SessionHTTP
import SessionKit
import SessionTestKit
import Synchronization
import Testing

@Suite("Cancelling a request", .timeLimit(.minutes(10)))
struct CancellationTests {
  @Test("LOG-3 a request that is cancelled at any moment of its start ends without a crash")
  func whileStarting() async throws {
    let server = try LoopbackServer.start()
    defer { server.stop() }
    let transport = URLSessionTransport()
    let request = HTTPRequest(
      method: "POST", url: server.baseURL.appending(path: "nowhere"), body: Array("{}".utf8))
    let sum = Atomic(0)
    for round in 0..<1_500 {
      let task = Task {
        do throws(TransportError) {
          _ = try await transport.send(request)
          return true
        } catch {
          return error == .cancelled
        }
      }
      DispatchQueue.global().async {
        // Work of varying length, so that the cancellation happens at any step.
        for step in 0..<(round * 7919 % 4_000) { sum.wrappingAdd(step, ordering: .relaxed) }
        task.cancel()
      }
      #expect(await task.value)
    }
  }
}
