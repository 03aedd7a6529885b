import ChildProcesses
import Foundation
import Testing

/// The public surface of the library products, as `Specs/Surface` lists it.
@Suite("Specs/Surface")
struct SurfaceTests {
  @Test("the files list the present public surface", .enabled(if: Self.isLinux))
  func surface() throws {
    let modules = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "Modules").path(percentEncoded: false)
    let tool = try ChildProcess.run(
      SourceTree().root.appending(path: "Tools/surface/run").path(percentEncoded: false),
      ["--check", "--modules", modules], errors: .collected)
    #expect(tool.code == 0, "\(tool.text)")
  }

  /// The files are made on Linux: they lack what only Apple's systems have.
  private static var isLinux: Bool {
    #if os(Linux)
      true
    #else
      false
    #endif
  }
}
