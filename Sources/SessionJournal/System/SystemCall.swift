/// Runs system calls on the file at `path`, and maps a fault to an error of the journal.
@inline(__always)
func onFile<Value: ~Copyable>(_ path: String, _ calls: () throws(SystemFault) -> Value)
  throws(JournalError) -> Value
{
  do throws(SystemFault) {
    return try calls()
  } catch {
    throw error.error(at: path)
  }
}

extension JournalFileHandle {
  /// Reads up to `count` bytes from `offset`; fewer only at the end of the file.
  func bytes(_ count: Int, at offset: UInt64) throws(SystemFault) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    let got = bytes.withUnsafeMutableBytes { buffer in
      do throws(SystemFault) {
        return Result<Int, SystemFault>.success(try read(into: buffer, at: offset))
      } catch {
        return .failure(error)
      }
    }
    bytes.removeLast(count - (try got.get()))
    return bytes
  }

  /// Writes all of `bytes`, with as many calls as that takes.
  package func writeAll(_ bytes: [UInt8], at offset: UInt64) throws(SystemFault) {
    if let fault = writeSome(bytes, at: offset).fault { throw fault }
  }

  /// Writes all of `bytes`, or as many as possible before a fault; returns both.
  func writeSome(_ bytes: [UInt8], at offset: UInt64) -> (count: Int, fault: SystemFault?) {
    bytes.withUnsafeBytes { buffer in
      var done = 0
      do throws(SystemFault) {
        while done < buffer.count {
          let rest = UnsafeRawBufferPointer(rebasing: buffer[done...])
          done += try write(rest, at: offset + UInt64(done))
        }
        return (done, nil)
      } catch {
        return (done, error)
      }
    }
  }
}
