import Foundation

/// A folder of failing cases, with one folder per property and one file per case.
///
/// Keep it under version control. Each check runs the saved cases first.
///
/// - Requirement: TST-1
public struct RegressionFolder: Hashable, Sendable {
  /// The suffix of a case's file name.
  static let suffix = ".case"
  /// The folder's name, if the caller gives none.
  static let name = "Regressions"

  /// The folder's path.
  public let path: String

  /// Creates a value for the folder at this path.
  public init(path: String) {
    self.path = path
  }

  /// Creates a value for the folder `Regressions` next to the tests.
  ///
  /// It is in the nearest folder `Tests` that contains the source file. If there is none, it is
  /// beside the file.
  public init(around file: String = #filePath) {
    let folders = Array(file.split(separator: "/").dropLast())
    let tests = folders.lastIndex(of: "Tests").map { Array(folders[...$0]) } ?? folders
    path = "/" + (tests + [Self.name[...]]).joined(separator: "/")
  }

  /// Returns the folder of one property: its name in ASCII letters, digits and hyphens, and a hash
  /// of it.
  func folder(of property: String) -> String {
    var name = ""
    for character in property.lowercased() {
      if character.isASCII, character.isLetter || character.isNumber {
        name.append(character)
      } else if !name.hasSuffix("-"), !name.isEmpty {
        name.append("-")
      }
    }
    while name.hasSuffix("-") { name.removeLast() }
    if name.isEmpty { name = "property" }
    let hash = String(StableHash.folded(property), radix: 16)
    return "\(path)/\(name.prefix(60))-\(hash)"
  }

  struct File: Sendable {
    let path: String
    let content: Result<Regression, Regression.Unreadable>
  }

  /// Returns the saved cases of a property, sorted by file name.
  func files(of property: String) -> [File] {
    let folder = folder(of: property)
    guard FileManager.default.fileExists(atPath: folder) else { return [] }
    let names: [String]
    do {
      names = try FileManager.default.contentsOfDirectory(atPath: folder)
    } catch {
      return [unreadable(folder, error)]
    }
    return names.filter { $0.hasSuffix(Self.suffix) }.sorted().map { name in
      read("\(folder)/\(name)")
    }
  }

  private func read(_ path: String) -> File {
    do {
      let text = try String(contentsOfFile: path, encoding: .utf8)
      return File(
        path: path,
        content: Result { () throws(Regression.Unreadable) in
          try Regression(text: text)
        })
    } catch {
      return unreadable(path, error)
    }
  }

  private func unreadable(_ path: String, _ error: any Error) -> File {
    let reason = (error as NSError).localizedDescription
    return File(path: path, content: .failure(Regression.Unreadable(reason: reason)))
  }

  /// Returns why a case could not be saved.
  ///
  /// If a file is missing, the folder could not be created.
  package static func reason(_ error: any Error) -> String {
    let missing: [CocoaError.Code] = [.fileNoSuchFile, .fileReadNoSuchFile]
    if let error = error as? CocoaError, missing.contains(error.code) {
      return "the system creates no folder there"
    }
    return (error as NSError).localizedDescription
  }

  /// Saves a case in a file named after a hash of its replay code; returns the path.
  func save(_ regression: Regression) throws -> String {
    let folder = folder(of: regression.property)
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let name = String(StableHash.hash(regression.replay), radix: 16)
    let path = "\(folder)/\(name)" + Self.suffix
    try regression.text.write(toFile: path, atomically: true, encoding: .utf8)
    return path
  }
}
