public import Foundation

/// The directory of a session.
extension SessionConfiguration {
  /// The journal's file, `session.journal` in the directory.
  ///
  /// Use it with `sessionreplay`.
  public var journalURL: URL { URL(fileURLWithPath: journal, isDirectory: false) }

  static func journal(in directory: URL) -> String {
    let path = path(of: directory)
    return (path == "/" ? "" : path) + "/session.journal"
  }

  /// Returns the path of a directory without a slash at its end.
  static func path(of directory: URL) -> String {
    var path = directory.absoluteURL.path(percentEncoded: false)
    while path.count > 1, path.last == "/" { path.removeLast() }
    return path
  }

  /// Throws if the URL cannot be a session's directory.
  ///
  /// It checks the URL only, not the file system.
  func checkDirectory() throws(SessionError) {
    guard let directory else { return }
    guard directory.isFileURL, Self.path(of: directory).first == "/" else {
      // The URL itself may hold a password.
      throw .wrongAddress("the session's directory is not a file URL with an absolute path")
    }
  }
}
