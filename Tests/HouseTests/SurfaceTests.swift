import Foundation
import Testing

/// The public surface of the library products, as `Specs/Surface` lists it.
@Suite("Specs/Surface")
struct SurfaceTests {
  @Test("the files list the public surface of today", .enabled(if: Self.isLinux))
  func surface() throws {
    let modules = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
      .appending(path: "Modules").path(percentEncoded: false)
    let process = Process()
    process.executableURL = House().root.appending(path: "Tools/surface/run")
    process.arguments = ["--check", "--modules", modules]
    let output = Pipe()
    (process.standardOutput, process.standardError) = (output, output)
    try process.run()
    let said = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0, "\(String(decoding: said, as: UTF8.self))")
  }

  /// The files are made on Linux: what only Apple's systems have is missing in them.
  private static var isLinux: Bool {
    #if os(Linux)
      true
    #else
      false
    #endif
  }
}
