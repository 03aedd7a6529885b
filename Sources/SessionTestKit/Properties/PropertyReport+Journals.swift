import Foundation

extension PropertyReport {
  /// Returns the name and the bytes of a journal's file, or `nil` if it cannot be read.
  package static func journal(at path: String) -> (name: String, bytes: [UInt8])? {
    guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
    return (URL(filePath: path).lastPathComponent, Array(bytes))
  }
}
