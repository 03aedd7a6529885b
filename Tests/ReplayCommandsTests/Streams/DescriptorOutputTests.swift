import Synchronization
import Testing

@testable import ReplayCommands

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

@Suite("RPL-11 an output to a descriptor")
struct DescriptorOutputTests {
  /// More than a pipe holds.
  private static let text = [UInt8](repeating: UInt8(ascii: "x"), count: 4 << 20)

  /// A pipe that is never read; a write fills it, and does not wait.
  private struct FullPipe: ~Copyable {
    let read: Int32
    let write: Int32

    init() throws {
      let (read, write) = try Self.opened()
      (self.read, self.write) = (read, write)
    }

    private static func opened() throws -> (read: Int32, write: Int32) {
      var ends: [Int32] = [-1, -1]
      try #require(pipe(&ends) == 0)
      try #require(fcntl(ends[1], F_SETFL, fcntl(ends[1], F_GETFL) | O_NONBLOCK) == 0)
      return (ends[0], ends[1])
    }

    deinit {
      close(read)
      close(write)
    }
  }

  @Test("RPL-11 a write of which a part was taken is not continued after a signal")
  func partlyTaken() throws {
    let pipe = try FullPipe()
    let asked = Atomic(0)
    let output = DescriptorOutput(descriptor: pipe.write) {
      asked.add(1, ordering: .relaxed)
      return true
    }
    #expect(throws: OutputFailure.closed) { try output.write(Self.text[...]) }
    #expect(asked.load(ordering: .relaxed) == 1)
  }

  @Test("RPL-11 without a signal a write goes on after a part, until the system refuses")
  func continued() throws {
    let pipe = try FullPipe()
    let output = DescriptorOutput(descriptor: pipe.write)
    #expect(throws: OutputFailure.refused(EAGAIN)) { try output.write(Self.text[...]) }
  }

  @Test("RPL-11 a write that is whole asks for no signal")
  func whole() throws {
    let pipe = try FullPipe()
    let output = DescriptorOutput(descriptor: pipe.write) { true }
    try output.write(Self.text[..<4_096])
    var taken = [UInt8](repeating: 0, count: 8_192)
    #expect(read(pipe.read, &taken, taken.count) == 4_096)
  }
}
