import Foundation

extension PropertyReport {
  /// The name of a journal's file, and what it holds; nil where it cannot be read.
  package static func journal(at path: String) -> (name: String, bytes: [UInt8])? {
    guard let bytes = FileManager.default.contents(atPath: path) else { return nil }
    return (URL(filePath: path).lastPathComponent, Array(bytes))
  }
}
