import ChildProcesses
import Foundation
import Testing

@testable import ReplayCommands
@testable import SessionExplain

@Suite("Files that commands write")
struct OutputFileTests {
  private func names(in folder: TemporaryFolder) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }

  private func context(_ interruption: Interruption = Interruption()) -> ToolContext {
    ToolContext(
      output: Output(CollectedOutput(), interruption: interruption),
      errors: Output(CollectedOutput(), interruption: interruption),
      style: Style(isColored: false), environment: { _ in nil }, interruption: interruption)
  }

  private func refusal(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return (error as? ToolError)?.name.rawValue ?? "\(error)"
    }
  }

  @Test("RPL-4 a finished file has its name and mode 0600, and its draft is gone")
  func finished() throws {
    let folder = try TemporaryFolder()
    let mask = umask(0o777)
    defer { umask(mask) }
    let file = try OutputFile(folder.file("out"), overwrite: false)
    try file.write([1, 2][...])
    #expect(try names(in: folder) == ["out.partial-\(getpid())"])
    try file.write([3][...])
    try file.finish()
    #expect(try names(in: folder) == ["out"])
    #expect(try folder.bytes("out") == [1, 2, 3])
    let mode = try FileManager.default.attributesOfItem(atPath: folder.file("out"))
    #expect(mode[.posixPermissions] as? Int == 0o600)
  }

  @Test("RPL-4 an unfinished file leaves nothing, whatever stops it")
  func unfinished() throws {
    let folder = try TemporaryFolder()
    do {
      let file = try OutputFile(folder.file("out"), overwrite: false)
      try file.write([1][...])
    }
    #expect(try names(in: folder).isEmpty)
    let thrown = refusal {
      try OutputFile.write(
        to: folder.file("out"), overwrite: false, inputs: [], context()
      ) { output throws(ToolError) in
        output.write("half")
        throw ToolError(.damaged, .damaged, "")
      }
    }
    #expect(thrown == "damaged")
    let interruption = Interruption()
    let interrupted = refusal {
      try OutputFile.write(
        to: folder.file("out"), overwrite: false, inputs: [], context(interruption)
      ) { output throws(ToolError) in
        output.write("half")
        interruption.raise(SIGINT)
      }
    }
    #expect(interrupted == "interrupted")
    #expect(try names(in: folder).isEmpty)
  }

  @Test(
    "RPL-4 an existing file stays unless overwriting is allowed, even if it is created meanwhile")
  func existing() throws {
    let folder = try TemporaryFolder()
    _ = try folder.write([7], to: "out")
    #expect(refusal { _ = try OutputFile(folder.file("out"), overwrite: false) } == "exists")
    let file = try OutputFile(folder.file("new"), overwrite: false)
    _ = try folder.write([8], to: "new")
    #expect(refusal { try file.finish() } == "exists")
    #expect(try folder.bytes("new") == [8])
    let replacing = try OutputFile(folder.file("out"), overwrite: true)
    try replacing.write([9][...])
    #expect(try folder.bytes("out") == [7])
    try replacing.finish()
    #expect(try folder.bytes("out") == [9])
  }

  @Test("RPL-4 the output cannot be the input under another name")
  func sameFile() throws {
    let folder = try TemporaryFolder()
    let input = try folder.write([7], to: "in")
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link"), withDestinationPath: input)
    try FileManager.default.linkItem(atPath: input, toPath: folder.file("hard"))
    for name in ["in", "link", "hard", "../\(folder.path.split(separator: "/").last ?? "")/in"] {
      let found = refusal {
        _ = try OutputFile(folder.file(name), overwrite: true, inputs: [input])
      }
      #expect(found == "sameFile", "\(name)")
    }
    #expect(try folder.bytes("in") == [7])
  }

  @Test("RPL-4 a link is replaced and not followed, and a special file is left alone")
  func others() throws {
    let folder = try TemporaryFolder()
    try FileManager.default.createSymbolicLink(
      atPath: folder.file("link"), withDestinationPath: folder.file("nothing"))
    #expect(refusal { _ = try OutputFile(folder.file("link"), overwrite: false) } == "exists")
    let file = try OutputFile(folder.file("link"), overwrite: true)
    try file.finish()
    #expect(try names(in: folder) == ["link"])
    for path in ["/dev/null", folder.path, folder.file("none/out"), folder.file("a\u{0}b"), ""] {
      let found = refusal { _ = try OutputFile(path, overwrite: true) }
      #expect(found == "cannotCreate", "\(path)")
    }
    #expect(try names(in: folder) == ["link"])
  }

  @Test("RPL-4 a dash means standard output")
  func dash() throws {
    let output = CollectedOutput()
    let interruption = Interruption()
    let context = ToolContext(
      output: Output(output, interruption: interruption),
      errors: Output(CollectedOutput(), interruption: interruption),
      style: Style(isColored: false), environment: { _ in nil }, interruption: interruption)
    try OutputFile.write(to: "-", overwrite: false, inputs: [], context) {
      (output) throws(ToolError) in output.write("all")
    }
    context.output.flush()
    #expect(output.text == "all")
  }
}
